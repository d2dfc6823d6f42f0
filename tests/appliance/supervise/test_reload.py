"""Edits of a running appliance over fake children: what each takes, what becomes of those that fail, who serves."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from faked import Faked, faked

REFUSES, CRASHES, DIES, SLOW, OTHER = "8", "64", "128", "24", "32"
"""Sizes of a block with which the fake engine behaves so."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faked]:
    with faked(tmp_path_factory.mktemp("reload")) as made:
        yield made


@pytest.fixture
def calm(shared: Faked) -> Faked:
    """As it was booted, whatever the test before did."""
    shared.edit()
    return shared


@contextmanager
def traffic(made: Faked, clients: int = 3) -> Iterator[list[int]]:
    """Statuses of /work, asked again and again meanwhile."""
    statuses: list[int] = []
    over = threading.Event()

    def ask() -> None:
        with httpx.Client(timeout=30) as client:
            while not over.is_set():
                statuses.append(client.get(f"{made.up.base_url}/work").status_code)

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        made.up.wait_until(lambda: len(statuses) >= clients)
        yield statuses
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_live_fields_touch_no_process(calm: Faked) -> None:
    before = calm.pids
    with traffic(calm) as statuses:
        assert "applied" in calm.edit(more="limits: {queue: {requests: 9}}")
    assert calm.state["queue"] == 9
    assert calm.pids == before
    assert set(statuses) == {200}
    calm.up.wait_for(r"limits\.queue\.requests: 256 -> 9")
    calm.up.wait_for("live: no engine is touched")


def test_the_format_of_its_own_lines_is_live(calm: Faked) -> None:
    assert "applied" in calm.edit(more="observability: {log_format: json}")
    calm.write()
    calm.hang_up()
    told = json.loads(calm.up.wait_for(r'^{.*"message": "revision \d+: applied.*').group())
    assert told["result"] == "applied" and told["proof"] == {"chat": "1 token"}
    changed = next(line for line in calm.up.lines if '"action": "reconfigure"' in line)
    assert json.loads(changed)["changes"] == {"observability.log_format": ["json", "text"]}


def test_the_same_plan_in_other_words_is_unchanged(calm: Faked) -> None:
    revision = calm.state["revision"]
    assert "unchanged" in calm.edit(more="# a remark")
    assert calm.state["revision"] == revision


def test_batching_is_told_to_the_running_engine(calm: Faked) -> None:
    before = calm.pids
    with traffic(calm) as statuses:
        assert "applied" in calm.edit(more="engine: {batching: {max_sequences: 7}}")
        calm.up.wait_for("tell the engine .*max_sequences=7")
    assert calm.pids == before
    assert set(statuses) == {200}


def test_an_engine_that_refuses_its_settings_is_replaced(calm: Faked) -> None:
    before = calm.pids
    with traffic(calm) as statuses:
        assert "applied" in calm.edit(more="engine: {batching: {max_sequences: 13}}")
    calm.up.wait_for("the running engine refused: 13 is not a number of sequences")
    assert calm.pids["engine"] != before["engine"]
    assert set(statuses) == {200}


def test_a_refused_setting_together_with_a_new_port(calm: Faked) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bind = f"127.0.0.1:{port}"
    assert "applied" in calm.edit(bind=bind, more="engine: {batching: {max_sequences: 13}}")
    assert calm.up.base_url == f"http://{bind}"
    assert calm.get("/work").status_code == 200


@pytest.mark.parametrize("strategy", ["surge", "drain"])
def test_new_engines_take_over_without_a_lost_request(calm: Faked, strategy: str) -> None:
    before = calm.state["generation"], calm.pids
    slow: list[int] = []
    call = threading.Thread(target=lambda: slow.append(calm.get("/slow?1.5").status_code))
    call.start()
    with traffic(calm) as statuses:
        assert "applied" in calm.edit(strategy=strategy, block=SLOW)
    call.join()
    assert slow == [200]
    assert set(statuses) == {200}
    assert calm.state["generation"] == before[0] + 1
    assert calm.pids["server"] == before[1]["server"]
    calm.up.wait_until(lambda: not psutil.pid_exists(before[1]["engine"]))
    assert ("Hold" in calm.state["commands"][-8:]) == (strategy == "drain")


@pytest.mark.parametrize("strategy", ["surge", "drain"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"block": REFUSES}, "the engine cannot start|no such device"),
        ({"block": CRASHES}, "ended with code 7"),
        ({"block": OTHER, "names": "unprovable"}, "chat: no token came"),
        ({"block": DIES}, "served, then failed: .*ended with code 9"),
    ],
    ids=["refuses", "crashes", "unprovable", "dies-settling"],
)
def test_what_fails_is_undone(calm: Faked, strategy: str, settings: dict[str, str], said: str) -> None:
    before = calm.state
    with traffic(calm) as statuses:
        assert "failed and was undone" in calm.edit(strategy=strategy, **settings)
    after = calm.state
    assert {key: after[key] for key in ("generation", "names", "revision")} == {
        key: before[key] for key in ("generation", "names", "revision")
    }
    assert not after["successful"] and after["sync"] == "Degraded"
    calm.up.wait_for(rf"fake\.yaml:\d+:\d+ AP06(09|10) error .*({said})")
    assert set(statuses) == {200}
    assert calm.get("/work").status_code == 200


def test_a_live_state_that_cannot_prove_itself_is_undone(calm: Faked) -> None:
    with traffic(calm) as statuses:
        assert "failed" in calm.edit(names="unprovable")
    assert calm.state["names"] == ["fake"]
    assert set(statuses) == {200}


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"more": "# a defect"}, "check"),
        ({"names": "defect"}, "proof"),
        ({"names": "defect", "more": "engine: {batching: {max_sequences: 9}}"}, "proof"),
        ({"names": "defect", "block": OTHER, "strategy": "surge"}, "proof"),
        ({"names": "defect", "block": OTHER, "strategy": "drain"}, "proof"),
    ],
    ids=["check", "live", "reconfigure", "surge", "drain"],
)
def test_a_defect_of_ours_is_told_and_undone(calm: Faked, settings: dict[str, str], where: str) -> None:
    before = calm.state
    with traffic(calm) as statuses:
        assert "failed and was undone" in calm.edit(**settings)
    calm.up.wait_for(rf"fake\.yaml.* AP0614 error .*ZeroDivisionError: of the {where}")
    after = calm.state
    assert (after["revision"], after["generation"]) == (before["revision"], before["generation"])
    assert not after["successful"]
    assert set(statuses) == {200}


def test_an_invalid_text_is_told_with_its_line(calm: Faked) -> None:
    before = calm.state["revision"]
    assert "not valid" in calm.edit(more="limts: {}")
    calm.up.wait_for(r"fake\.yaml:8:1 AP01\d\d error .*limts")
    assert calm.state["revision"] == before
    assert calm.state["sync"] == "Invalid"
    assert "unchanged" in calm.edit()
    assert calm.state["sync"] == "Synced" and calm.state["successful"]


def test_surge_without_room_is_rejected(calm: Faked) -> None:
    assert "cannot be here" in calm.edit(strategy="surge", block="48", pool="18GiB")
    calm.up.wait_for(r"fake\.yaml:5:\d+ AP0608 error reload\.strategy: surge is wanted, but")


def test_a_port_in_use_changes_nothing(calm: Faked) -> None:
    before = calm.pids
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        bind = f"127.0.0.1:{other.getsockname()[1]}"
        assert "cannot be here" in calm.edit(bind=bind, block=OTHER)
    calm.up.wait_for(
        r"fake\.yaml:6:\d+ AP0601 error security\.bind: port \d+ on 127\.0\.0\.1 is in use.*: security\.bind: 127"
    )
    assert calm.pids == before


def test_a_new_port_is_served_and_the_old_one_finishes(calm: Faked) -> None:
    old_url, before = calm.up.base_url, calm.pids
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    slow: list[int] = []
    call = threading.Thread(target=lambda: slow.append(httpx.get(f"{old_url}/slow?1", timeout=30).status_code))
    call.start()
    assert "applied" in calm.edit(bind=f"127.0.0.1:{port}")
    calm.up.base_url = f"http://127.0.0.1:{port}"
    after = calm.pids
    assert after["server"] != before["server"] and after["engine"] == before["engine"]
    call.join()
    assert slow == [200]
    calm.up.wait_until(lambda: not psutil.pid_exists(before["server"]))
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{old_url}/state")


def test_secrets_by_file(calm: Faked, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("one\n")
    key.chmod(0o600)
    assert "applied" in calm.edit(keys=f"{{file: {key}}}")
    key.write_text("two\n")
    assert "applied" in calm.edit(keys=f"{{file: {key}}}")
    calm.up.wait_for(r"security\.api_keys\[0\]\.file: the file's content")
    revision = calm.state["revision"]
    key.unlink()
    assert "not valid" in calm.edit(keys=f"{{file: {key}}}")
    calm.up.wait_for(r"AP0306 error security\.api_keys\[0\]")
    assert calm.state["revision"] == revision
    assert "two" not in calm.up.output


def test_a_storm_ends_in_the_last_state(calm: Faked) -> None:
    before = len(calm.endings())
    with traffic(calm) as statuses:
        for number in range(1, 101):
            calm.write(more=f"limits: {{queue: {{requests: {number}}}}}")
            calm.hang_up()
        calm.up.wait_until(lambda: calm.state["queue"] == 100)
    assert set(statuses) == {200}
    assert len(calm.endings()) - before < 100
