"""kill -9, full disks, damaged and vanished files: what was confirmed is there again, or it is said what was lost."""

import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from appliance.supervise.history import History, HistoryFullError
from appliance.supervise.history_records import text_hash

WRITER = """
import sys
from pathlib import Path
from appliance.supervise.history import History

history = History(Path(sys.argv[1]), kept=40)
for left in history.unfinished():
    history.finish(left.number, "interrupted")
while True:
    number = history.begin("size: 1\\n" * 200, "h", "file")
    print("begun", number, flush=True)
    history.phase(number, "boot", 0.1)
    history.pin(number, f"away {number}")
    history.finish(number, "applied", number)
    print("applied", number, flush=True)
"""
KILLS = 12


def test_kill_9_at_any_instant_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    path, chance = tmp_path / "history.sqlite", random.Random(4)
    confirmed = {"begun": 0, "applied": 0}
    for _ in range(KILLS):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        seen = [writer.stdout.readline()]
        time.sleep(chance.uniform(0.0, 0.15))
        writer.send_signal(signal.SIGKILL)
        seen += writer.stdout.read().splitlines(keepends=True)
        writer.stdout.close()
        writer.wait()
        for line in seen:
            if line.endswith("\n"):
                word, number = line.split()
                confirmed[word] = int(number)
        history = History(path)
        found = {revision.number: revision for revision in history.list(1000)}
        left = history.unfinished()
        health, pinned = history.health(), history.pinned
        history.close()
        assert health.state == "fine" and health.unwritten == 0
        assert max(found) in (confirmed["begun"], confirmed["begun"] + 1)
        assert found[confirmed["applied"]].outcome == "applied"
        assert [revision.number for revision in left] in ([], [max(found)])
        assert pinned and confirmed["applied"] <= pinned.revision <= max(found)
    assert confirmed["applied"] > KILLS and len(found) < 70


FILLER = """
import resource, sys
from pathlib import Path
from appliance.supervise.history import History, HistoryFullError

history = History(Path(sys.argv[1]))
history.finish(history.begin("good", "good", "boot"), "applied", 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
refused = []

def trial(text, outcome):
    try:
        number = history.begin(text, text, "file")
    except HistoryFullError as full:
        assert "cannot be written" in str(full)
        number = full.revision
        refused.append(number)
    try:
        history.finish(number, outcome, 2)
    except HistoryFullError as full:
        assert full.revision == number

while not refused:
    trial("x" * 3000, "invalid")
trial("better", "applied")
for index in range(80):
    trial("x" * 3000, "invalid")
assert history.last_good().text == "better" and history.list(1)[0].number == refused[-1]
assert history.health().state == "unwritable" and history.health().unwritten == 50
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
history.begin("room again", "r", "file")
assert history.health().unwritten == 0
assert history.health().detail.endswith("revisions were never written")
"""


def test_a_full_disk_is_told_and_made_good_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    ran = subprocess.run([sys.executable, "-c", FILLER, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    history = History(path)
    good = history.last_good()
    history.close()
    assert good is not None and good.text == "better"


OPENER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
from pathlib import Path
from appliance.supervise.history import History, HistoryFullError

history = History(Path(sys.argv[1]))
good = history.last_good()
try:
    history.begin("b", "b", "file")
except HistoryFullError:
    print(good.text if good else None)
"""


@pytest.mark.parametrize("killed", [True, False])
def test_the_last_good_state_is_found_on_a_full_disk(tmp_path: Path, killed: bool) -> None:
    path = tmp_path / "history.sqlite"
    history = History(path)
    history.finish(history.begin("a", "a", "boot"), "applied", 1)
    parts = {part: part.read_bytes() for part in tmp_path.iterdir()}
    history.close()
    if killed:
        for part, content in parts.items():
            part.write_bytes(content)
    ran = subprocess.run([sys.executable, "-c", OPENER, str(path)], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.returncode) == ("a\n", 0), ran.stderr


def filled(path: Path) -> bytes:
    history = History(path)
    for index in range(30):
        text = f"size: {index}\n" * 100
        history.finish(history.begin(text, text_hash(text), "file"), "applied", index)
    history.pin(3, "away")
    history.close()
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(tmp_path: Path, seed: int) -> None:
    path, chance = tmp_path / "history.sqlite", random.Random(seed)
    content = bytearray(filled(path))
    for _ in range(4):
        page = chance.randrange(len(content) // 4096) * 4096
        content[page : page + 4096] = chance.randbytes(4096)
    path.write_bytes(content)
    history = History(path)
    health = history.health()
    number = history.begin("new", "new", "file")
    history.finish(number, "applied", 1)
    assert history.get(number) == history.last_good() == history.list(1)[0]
    history.close()
    assert health.state == "renewed" and "history.sqlite.damaged-1" in health.detail
    assert (tmp_path / "history.sqlite.damaged-1").read_bytes() == content
    assert number == health.revisions + 1 or number == 31


def test_what_can_be_read_of_a_damaged_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    content = bytearray(filled(path))
    index_page = 2 * 4096
    content[index_page : index_page + 4096] = b"\xaa" * 4096
    path.write_bytes(content)
    history = History(path)
    assert history.health().state == "renewed" and "30 of its revisions were saved" in history.health().detail
    good = history.last_good()
    assert good is not None and good.number == 30
    assert history.pinned is not None and history.pinned.away == "away"
    history.close()


def test_a_record_that_makes_no_sense_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    filled(path)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE revision SET record = '{\"number\": tw' WHERE number >= 29")
    history = History(path)
    good = history.last_good()
    assert good is not None and good.number == 28
    assert [revision.number for revision in history.list(3)] == [28, 27, 26]
    assert history.get(30) is None
    assert history.health().state == "damaged" and "cannot be read" in history.health().detail
    assert history.begin("new", "new", "file") == 31
    history.close()


def test_damage_while_it_is_open_does_not_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    filled(path)
    history = History(path)
    path.write_bytes(b"this is no database" * 1000)
    (tmp_path / "history.sqlite-wal").unlink()
    numbers = []
    for index in range(4):
        try:
            numbers.append(history.begin(f"text {index}", "h", "file"))
        except HistoryFullError as full:
            numbers.append(full.revision)
    assert numbers == [31, 32, 33, 34]
    assert [revision.number for revision in history.list(4)] == [34, 33, 32, 31]
    history.close()


def test_a_deleted_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    filled(path)
    history = History(path)
    for part in list(tmp_path.iterdir()):
        part.unlink()
    number = 0
    for _ in range(3):
        try:
            number = history.begin("text", "h", "file")
        except HistoryFullError as full:
            number = full.revision
    history.close()
    assert number == 33


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    history = History(tmp_path / "gone" / "history.sqlite")
    assert history.health().state == "unwritable" and history.last_good() is None
    with pytest.raises(HistoryFullError):
        history.begin("a", "a", "boot")
    found = history.get(1)
    assert found is not None and found.text == "a"
    (tmp_path / "gone").mkdir()
    assert history.begin("b", "b", "file") == 2
    assert history.health().state == "fine" and history.health().revisions == 2
    history.close()
