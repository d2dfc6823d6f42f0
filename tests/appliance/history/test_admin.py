"""The admin channel: who may open it, what it survives, and what a caller is told when it does not work."""

import getpass
import json
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_appliance import FakeAppliance, serve
from waiting import until

from appliance.diagnostics import ApplianceError
from appliance.supervise.admin_client import AdminClient
from appliance.supervise.admin_protocol import (
    SOCKET,
    Answer,
    Diff,
    History,
    Listed,
    PlanAgainst,
    Planned,
    Queued,
    Reload,
    Request,
    Rollback,
    Show,
    Shown,
    Status,
    StatusAnswer,
    Texts,
    Tried,
)
from appliance.supervise.admin_socket import address
from appliance.supervise.history_records import Phase


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def fake(folder: Path) -> Iterator[FakeAppliance]:
    with serve(folder, "size: 1\n") as appliance:
        yield appliance


def ask(folder: Path, request: Request, answer: type[Answer]) -> Answer:
    with AdminClient(folder, "triage") as client:
        return client.ask(request, answer)


def raw(folder: Path, *lines: bytes) -> list[dict[str, object]]:
    with socket.socket(socket.AF_UNIX) as connection, address(folder) as path:
        connection.settimeout(20)
        connection.connect(path)
        answers = []
        for line in lines:
            connection.sendall(line + b"\n")
            answers.append(json.loads(connection.makefile("rb").readline()))
        return answers


def test_every_request_has_its_answer(fake: FakeAppliance, folder: Path) -> None:
    fake.file.write_text("size: 2\n")
    phases: list[Phase] = []
    with AdminClient(folder, "triage") as client:
        assert client.ask(Status(), StatusAnswer).status.state == "ready"
        tried = client.ask(Reload(note="more"), Tried, phases.append).outcome
        assert (tried.result, tried.revision) == ("applied", 2)
        assert [phase.name for phase in phases] == ["validate", "boot"]
        shown = client.ask(Show(revision=2), Shown).revision
        assert (shown.text, shown.note, shown.source) == ("size: 2\n", "more", "admin")
        assert client.ask(Rollback(), Tried).outcome.revision == 3
        texts = client.ask(Diff(a="2", b="running"), Texts)
        assert (texts.a.text, texts.b.text) == ("size: 2\n", "size: 1\n")
        listed = client.ask(History(limit=2), Listed)
        assert [revision.number for revision in listed.revisions] == [3, 2] and listed.running == 3
        assert not any(revision.text or revision.diff for revision in listed.revisions)
        planned = client.ask(PlanAgainst(text="size: 3\n", file="/x.yaml"), Planned)
        assert planned.changes[0].path == "limits.body" and fake.asked == [("size: 3\n", "/x.yaml")]
    assert fake.defects == []


def test_the_kernel_says_who_asked(fake: FakeAppliance, folder: Path) -> None:
    ask(folder, Reload(), Tried)
    shown = ask(folder, Show(revision=2), Shown)
    assert isinstance(shown, Shown) and shown.revision.actor == getpass.getuser()


def test_only_its_owner_may_open_it(fake: FakeAppliance, folder: Path) -> None:
    assert stat.S_IMODE((folder / SOCKET).stat().st_mode) == 0o600


def test_a_folder_with_a_long_path_works_too(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / "state"
    with serve(folder, "size: 1\n"):
        answer = ask(folder, Status(), StatusAnswer)
        assert isinstance(answer, StatusAnswer) and answer.status.revision == 1
    assert not (folder / SOCKET).exists()


def test_nothing_runs_and_a_socket_left_by_a_killed_one(folder: Path) -> None:
    with pytest.raises(ApplianceError, match=r"AP0902 .* no appliance named triage runs .*appliance up FILE"):
        ask(folder, Status(), StatusAnswer)
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as left, address(folder) as path:
        left.bind(path)
        left.listen()
    with pytest.raises(ApplianceError, match="AP0902"):
        ask(folder, Status(), StatusAnswer)
    with serve(folder, "size: 1\n"):
        ask(folder, Status(), StatusAnswer)


@pytest.mark.parametrize("line", [b"no json", b"{}", b'{"type":"explode"}', b'{"type":"show","revision":"x"}', b"[1]"])
def test_a_request_that_makes_no_sense_is_refused_and_the_next_one_answered(
    fake: FakeAppliance, folder: Path, line: bytes
) -> None:
    refused, answered = raw(folder, line, b'{"type":"status"}')
    assert refused["type"] == "failure" and "AP0905" in str(refused)
    assert answered["type"] == "status"
    assert fake.defects == []


def test_known_failures_travel_whole_and_defects_do_not_end_the_channel(fake: FakeAppliance, folder: Path) -> None:
    with pytest.raises(ApplianceError) as invalid:
        ask(folder, PlanAgainst(text="invalid", file="/a/b.yaml"), Planned)
    assert str(invalid.value) == "/a/b.yaml:2:1 AP0101 error nmae: is not a field; did you mean name?"
    assert invalid.value.exit_code == 1
    running, fake.running = fake.running, None
    with pytest.raises(ApplianceError, match="AP0905 error the appliance has a defect: RuntimeError"):
        ask(folder, Status(), StatusAnswer)
    assert [type(defect) for defect in fake.defects] == [RuntimeError]
    fake.running = running
    ask(folder, Status(), StatusAnswer)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (Show(revision=9), "AP0904"),
        (Rollback(revision=9), "AP0904"),
        (Rollback(), "AP0907"),
        (Diff(a="9", b="running"), "AP0904"),
        (Diff(a="nonsense", b="running"), "AP0904"),
    ],
)
def test_what_is_not_in_history_is_refused(fake: FakeAppliance, folder: Path, request_: Request, code: str) -> None:
    with pytest.raises(ApplianceError, match=code):
        ask(folder, request_, Shown)


def test_a_reload_goes_on_when_whoever_asked_has_left(fake: FakeAppliance, folder: Path) -> None:
    fake.gate = threading.Event()
    fake.file.write_text("size: 2\n")
    with socket.socket(socket.AF_UNIX) as connection, address(folder) as path:
        connection.connect(path)
        connection.sendall(b'{"type":"reload"}\n')
        assert b'"progress"' in connection.recv(4096)
    fake.gate.set()
    until(lambda: fake.running is not None and fake.running.number == 2)
    assert fake.defects == []


def test_status_is_answered_while_a_reload_is_under_way(fake: FakeAppliance, folder: Path) -> None:
    fake.gate = threading.Event()
    assert isinstance(ask(folder, Reload(wait=False), Queued), Queued)
    answer = ask(folder, Status(), StatusAnswer)
    assert isinstance(answer, StatusAnswer) and answer.status.revision == 1
    fake.gate.set()
    until(lambda: fake.running is not None and fake.running.number == 2)


def test_an_appliance_that_ends_during_a_call_is_told(folder: Path) -> None:
    caught: list[ApplianceError] = []
    begun = threading.Event()

    def call() -> None:
        with pytest.raises(ApplianceError) as ended, AdminClient(folder, "triage") as client:
            client.ask(Reload(), Tried, lambda phase: begun.set(), seconds=None)
        caught.append(ended.value)

    with serve(folder, "size: 1\n") as fake:
        fake.gate = threading.Event()
        thread = threading.Thread(target=call)
        thread.start()
        assert begun.wait(20)
    thread.join(20)
    assert "AP0905" in str(caught[0]) and "it ended during the call" in str(caught[0])
