"""A random walk of edits and rollbacks, good and bad: at each step, and in between, `status` says what is so."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faked import Faked, faked

from appliance.diagnostics import ApplianceError
from appliance.supervise.admin_client import AdminClient
from appliance.supervise.admin_protocol import Reload, Rollback, Status, StatusAnswer, Tried
from appliance.supervise.history_read import read_history
from appliance.supervise.history_records import text_hash
from appliance.supervise.proposal import Outcome
from appliance.supervise.status import ApplianceStatus

STEPS = 24
EDITS = (
    {"more": "limits: {queue: {requests: %d}}"},
    {"more": "engine: {batching: {max_sequences: %d}}"},
    {"more": "# remark %d"},
    {"more": "limits: {queue: {requests: %d}}", "block": "32"},
    {"more": "limits: {queue: {requests: %d}}", "block": "32", "strategy": "drain"},
    {"more": "limits: {queue: {requests: %d}}", "block": "8"},
    {"more": "limits: {queue: {requests: %d}}", "block": "64", "strategy": "drain"},
    {"more": "limits: {queue: {requestz: %d}}"},
    {"more": "limits: [%d"},
)


def status(made: Faked) -> ApplianceStatus:
    with AdminClient(made.state_folder, "fake") as client:
        return client.ask(Status(), StatusAnswer).status


def tried(made: Faked, request: Reload | Rollback) -> Outcome:
    with AdminClient(made.state_folder, "fake") as client:
        return client.ask(request, Tried, seconds=120.0).outcome


@contextmanager
def asked_all_along(made: Faked) -> Iterator[list[ApplianceStatus]]:
    told: list[ApplianceStatus] = []
    over = threading.Event()

    def ask() -> None:
        while not over.wait(0.02):
            told.append(status(made))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield told
    finally:
        over.set()
        thread.join()


def step(made: Faked, chance: random.Random, number: int) -> None:
    before = status(made)
    rolled_back = number % 6 == 5
    if not rolled_back:
        edit = chance.choice(EDITS)
        made.write(**{name: value % number if "%d" in value else value for name, value in edit.items()})
    try:
        outcome = tried(made, Rollback() if rolled_back else Reload())
    except ApplianceError as error:
        assert rolled_back and "AP0907" in str(error)
        return
    now, served = status(made), made.state
    assert (now.revision, now.generation) == (served["revision"], served["generation"])
    assert now.last_reload is not None and now.last_reload.number == outcome.revision
    assert now.last_reload.outcome == outcome.result
    assert not now.reloading and now.waiting == 0 and now.file is not None
    assert now.file.hash == text_hash(made.profile.read_text())
    assert now.state == ("ready" if outcome.good else "degraded")
    if outcome.result == "applied":
        assert now.revision == outcome.revision
    else:
        assert now.revision == before.revision
    if rolled_back and outcome.good:
        assert now.pin is not None and now.exit_code == (0 if now.file.state == "synced" else 1)
    elif outcome.good:
        assert (now.hash, now.file.state, now.exit_code) == (now.file.hash, "synced", 0)
    else:
        assert now.hash == before.hash and now.exit_code == 1
        assert now.file.state == ("invalid" if outcome.result == "invalid" else "changed")


def test_engines_of_both_generations_are_listed_while_the_new_ones_settle(tmp_path: Path) -> None:
    with faked(tmp_path, environment={"FAKE_SETTLE": "4"}) as made:
        assert {process.generation for process in status(made).processes} == {None, 1}
        made.write(block="32")
        made.hang_up()
        made.up.wait_until(lambda: made.state["generation"] == 2)
        now = status(made)
        assert now.reloading.endswith(": settle") and now.generation == 1
        assert {process.generation for process in now.processes} == {None, 1, 2}
        made.up.wait_until(lambda: {process.generation for process in status(made).processes} == {None, 2})
        assert status(made).generation == 2


@pytest.mark.parametrize("seed", [13])
def test_status_does_not_lie(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with faked(tmp_path) as made:
        with asked_all_along(made) as told:
            for number in range(1, STEPS):
                step(made, chance, number)
        with read_history(made.state_folder) as history:
            found = {revision.number: revision for revision in history.list(1000)}
    assert len(told) > STEPS
    assert all(revision.outcome is not None for revision in found.values())
    for one in told:
        assert one.revision is not None
        unchanged = {r.hash for r in found.values() if r.outcome == "unchanged" and r.number > one.revision}
        assert found[one.revision].outcome == "applied" and one.hash in {found[one.revision].hash, *unchanged}
    assert {revision.outcome for revision in found.values()} >= {"applied", "unchanged", "invalid", "failed"}
