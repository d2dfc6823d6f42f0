"""Random edits of an appliance that streams to clients: no answer is lost or altered, and status never lies.

A longer walk: `APPLIANCE_WALK_EDITS=200 APPLIANCE_WALK_SEED=7 pytest tests/appliance/reload`.
"""

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from faked import Faked, again
from judged_streams import Ask, Clients, answers, streaming
from truth import Scrape, check, scrape
from walk import Edit, Models, Settings, Walk, free_port

from appliance.diagnostics import ApplianceError
from appliance.supervise.admin_client import AdminClient
from appliance.supervise.admin_protocol import Reload, Rollback, Status, StatusAnswer, Tried
from appliance.supervise.history_read import read_history
from appliance.supervise.history_records import text_hash
from appliance.supervise.status import ApplianceStatus

EDITS = int(os.environ.get("APPLIANCE_WALK_EDITS", "12"))
SEED = int(os.environ.get("APPLIANCE_WALK_SEED", "3"))
CLIENTS = 4
ASKS = tuple(
    Ask(f"{start} the scheduler fills one budget", tokens, chat)
    for start, tokens, chat in (
        ("yes", 20, False),
        ("no", 120, True),
        ("river", 60, False),
        ("order", 9, True),
        ("window", 140, False),
        ("letter", 40, True),
    )
)


@pytest.fixture(scope="module")
def models(tiny_model: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Models:
    usual, broken = tiny_model("qwen3"), tmp_path_factory.mktemp("broken")
    for source in usual.iterdir():
        (broken / source.name).write_bytes(source.read_bytes())
    (broken / "tokenizer.json").write_text("{}")
    return Models(usual, tiny_model("qwen3", seed=1), broken)


class Site:
    """The appliance, the walk it is on, and what is in force."""

    def __init__(self, made: Faked, walk: Walk, settings: Settings) -> None:
        self.made, self.walk = made, walk
        self.serving = self.written = settings
        self.texts = {text_hash(settings.text): settings}
        self.applied: dict[int, Settings] = {}
        """By revision."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.serving.port}"

    def status(self) -> ApplianceStatus:
        with AdminClient(self.made.state_folder, "walk") as client:
            return client.ask(Status(), StatusAnswer).status

    def ask(self, request: Reload | Rollback) -> None:
        with AdminClient(self.made.state_folder, "walk") as client:
            outcome = client.ask(request, Tried, seconds=240.0).outcome
        now = self.status()
        assert now.last_reload is not None and now.last_reload.number == outcome.revision
        assert now.last_reload.outcome == outcome.result

    def take(self, edit: Edit) -> ApplianceStatus:
        """Saves it, has it tried in one of the ways there are, and returns what status says afterwards."""
        text = edit.settings.text
        self.texts[text_hash(text)] = edit.settings
        self.written = edit.settings
        self.made.profile.write_text(text)
        if self.serving.watch == "false" and self.walk.chance.random() < 0.5:
            self.ask(Reload(note=edit.name))
        elif self.serving.watch == "false":
            self.made.up.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 240
        while not self._tried(text_hash(text)):
            assert time.monotonic() < deadline, self.made.up.output
            time.sleep(0.1)
        return self.status()

    def check(self, status: ApplianceStatus) -> None:
        with httpx.Client(base_url=self.url, timeout=120, verify=False) as client:
            check(status, self.serving, client)

    def _tried(self, hash: str) -> bool:
        now = self.status()
        return not now.reloading and not now.waiting and now.last_reload is not None and now.last_reload.hash == hash


def checked(site: Site, edit: Edit) -> None:
    before = site.status()
    after = site.take(edit)
    last = after.last_reload
    assert last is not None and last.outcome == edit.result, (edit, last)
    if edit.result in ("applied", "unchanged"):
        site.serving = edit.settings
        assert (after.state, after.exit_code, after.hash) == ("ready", 0, text_hash(edit.settings.text))
        assert after.file is not None and after.file.state == "synced" and not after.file.drift
    else:
        assert (after.state, after.exit_code, after.hash) == ("degraded", 1, before.hash)
        assert after.file is not None and after.file.state == ("invalid" if edit.result == "invalid" else "changed")
        site.made.up.wait_for(edit.said)
    if edit.result == "applied":
        assert after.revision == last.number
        site.applied[last.number] = edit.settings
    else:
        assert (after.revision, after.generation) == (before.revision, before.generation)
    site.check(after)


def rolled_back(site: Site, number: int) -> None:
    """By command, to the one before or to any that was applied."""
    before = site.status()
    target = site.walk.chance.choice([None, *sorted(site.applied)])
    try:
        site.ask(Rollback(revision=target))
    except ApplianceError as error:
        assert "AP0907" in str(error) and (target is None or target == before.revision), error
        return
    after = site.status()
    assert after.last_reload is not None and after.revision is not None
    settings = site.texts[after.hash]
    assert target is None or settings == site.applied[target]
    same = settings.effective == site.serving.effective
    assert after.last_reload.outcome == ("unchanged" if same else "applied")
    site.serving = settings
    if not same:
        site.applied[after.revision] = settings
    assert after.state == "ready" and after.file is not None
    assert after.pin is not None or after.hash == before.hash, "only what ran already needs no pin"
    assert after.file.hash == text_hash(site.written.text)
    site.check(after)


@contextmanager
def watched(site: Site) -> Iterator[list[str]]:
    """Lies of status while edits are under way: it names another state than the server between two scrapes."""
    lies: list[str] = []
    over = threading.Event()

    def look() -> None:
        with httpx.Client(timeout=120) as client:
            while not over.wait(0.1):
                client.base_url = site.url
                with contextlib.suppress(httpx.TransportError):
                    compare(scrape(client), site.status(), scrape(client))

    def compare(first: Scrape, told: ApplianceStatus, second: Scrape) -> None:
        served = {(one.revision, one.generation) for one in (first, second)}
        if len(served) == 1 and not told.reloading and (told.revision, told.generation) not in served:
            lies.append(f"{told.revision}, {told.generation} while {served} serves")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lies
    finally:
        over.set()
        thread.join()


@contextmanager
def site_at(folder: Path, models: Models) -> Iterator[Site]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        made = Faked(folder)
        settings = Settings(models.usual, free_port())
        made.profile.write_text(settings.text)
        walk = Walk(SEED, models, other.getsockname()[1])
        with again(made, FAKE_CHILDREN="no", FAKE_SETTLE="0.3"):
            site = Site(made, walk, settings)
            first = site.status()
            assert first.revision is not None
            site.applied[first.revision] = settings
            yield site


def expected(site: Site, models: Models) -> dict[int, frozenset[str]]:
    """Whole answers of either model; a mixture is neither."""
    usual = answers(site.url, ASKS)
    checked(site, Edit("model", site.walk.make("model", site.serving, 0).settings, "applied"))
    other = answers(site.url, ASKS)
    assert site.serving.model == models.other and all(usual[number] != other[number] for number in usual)
    return {number: usual[number] | other[number] for number in usual}


@pytest.mark.timeout(300 + 20 * EDITS)
def test_a_walk(tmp_path: Path, models: Models) -> None:
    with site_at(tmp_path, models) as site:
        done: list[str] = []
        with (
            walked(site, done),
            watched(site) as lies,
            streaming(lambda: site.url, ASKS, CLIENTS, expected(site, models)) as clients,
        ):
            for number in range(1, EDITS + 1):
                if number % 6 == 0:
                    done.append(f"{number} rollback")
                    rolled_back(site, number)
                else:
                    edit = site.walk.edit(site.serving, number)
                    done.append(f"{number} {edit.name}")
                    checked(site, edit)
                assert not clients.faults
                assert not lies
        assert_whole(clients, site)


@contextmanager
def walked(site: Site, done: list[str]) -> Iterator[None]:
    """What fails is told with the way there and the last that the appliance said."""
    try:
        yield
    except Exception as error:
        code = site.made.up.process.poll()
        ended = "" if code is None else f"; the appliance has ended with code {code}"
        error.add_note("\n".join([f"seed {SEED}{ended}: {', '.join(done)}", *site.made.up.lines[-150:]]))
        raise


def assert_whole(clients: Clients, site: Site) -> None:
    assert not clients.faults
    assert len(clients.heard) >= CLIENTS
    with read_history(site.made.state_folder) as history:
        assert all(revision.outcome is not None for revision in history.list(1000))
    told = json.loads((site.made.state_folder / "status.json").read_text())
    assert told["url"] == site.url
