"""Files take a new text whole or not at all, and stay what they were."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.migrate.source import read
from appliance.migrate.write import NotWrittenError, write

Run = Callable[..., Any]
OLD = "#!/bin/sh\nvllm serve org/model --swap-space 4 --max-model-len 4096\n"
NEW = "#!/bin/sh\nvllm serve org/model --max-model-len 4096\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "run.sh"
    path.write_text(OLD)
    return path


def test_mode_stays_and_nothing_is_left_behind(run: Run, script: Path) -> None:
    script.chmod(0o751)
    assert run("migrate", "--write", "run.sh").code == 0
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == (NEW, 0o751)
    assert [path.name for path in script.parent.iterdir()] == ["run.sh"]


def test_owner_stays(run: Run, script: Path) -> None:
    mine = os.getuid() == 0
    if mine:
        os.chown(script, 12345, 54321)
    before = script.stat()
    assert run("migrate", "--write", "run.sh").code == 0
    assert (script.stat().st_uid, script.stat().st_gid) == (before.st_uid, before.st_gid)


def test_link_stays_a_link(run: Run, script: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    script.rename(tmp_path / "deep" / "real.sh")
    script.symlink_to("deep/real.sh")
    ran = run("migrate", "--write", "run.sh")
    assert "run.sh: a link to " in ran.out and "deep/real.sh" in ran.out
    assert script.is_symlink() and script.read_text() == NEW


def test_broken_link_is_a_missing_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.sh").symlink_to("gone")
    ran = run("migrate", "run.sh")
    assert (ran.code, "VM0101" in ran.err) == (2, True)


def test_read_only_file(run: Run, script: Path) -> None:
    script.chmod(0o444)
    ran = run("migrate", "--write", "run.sh")
    assert (ran.code, script.read_text()) == (2, OLD)
    assert ran.err == "run.sh VM0107 error is read-only; make it writable, or edit a copy\n"


def test_edit_of_somebody_else_wins(script: Path) -> None:
    source = read(str(script))
    script.write_text("theirs\n")
    with pytest.raises(NotWrittenError, match="changed by somebody else"):
        write(source, NEW)
    assert script.read_text() == "theirs\n"
    assert [path.name for path in script.parent.iterdir()] == ["run.sh"]


def test_removed_file_does_not_come_back(script: Path) -> None:
    source = read(str(script))
    script.unlink()
    with pytest.raises(NotWrittenError):
        write(source, NEW)
    assert not script.exists()


def test_folder_that_takes_no_file(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a read-only one does; root may write everywhere."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    source = read(str(script))
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(NotWrittenError, match=r"folder .* is read-only"):
        write(source, NEW)
    assert script.read_text() == OLD


def test_full_disk_leaves_the_old_text(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    source = read(str(script))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWrittenError, match="No space left"):
        write(source, NEW)
    assert script.read_text() == OLD
    assert [path.name for path in script.parent.iterdir()] == ["run.sh"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encoding_and_line_ends_stay(run: Run, script: Path, encoding: str, end: str) -> None:
    script.write_bytes(("# Überwacht\n" + OLD).replace("\n", end).encode(encoding))
    assert run("migrate", "--write", "run.sh").code == 0
    assert script.read_bytes() == ("# Überwacht\n" + NEW).replace("\n", end).encode(encoding)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\0\0\1", "is a binary file"),
        (b"\0", "is a binary file"),
        (b"\x01\x02\xff\xfe\xfd", "is no text"),
        (b"\xff\xfea", "is no UTF-16-LE text"),
        (b"vllm serve m \xff\x00", "is a binary file"),
    ],
)
def test_what_is_no_text_gets_one_line(run: Run, script: Path, data: bytes, said: str) -> None:
    script.write_bytes(data)
    ran = run("migrate", "--write", "run.sh")
    assert (ran.code, ran.err.count("\n"), said in ran.err) == (2, 1, True)
    assert script.read_bytes() == data


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_empty_files(run: Run, script: Path, data: bytes) -> None:
    script.write_bytes(data)
    ran = run("migrate", "run.sh")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "run.sh: is empty")


def test_huge_file(run: Run, script: Path) -> None:
    with script.open("r+b") as file:
        file.truncate(2**25 + 1)
    ran = run("migrate", "run.sh")
    assert (ran.code, "is larger than 32 MiB" in ran.err) == (2, True)


def test_pipe_is_not_waited_for(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.sh")
    ran = run("migrate", "run.sh")
    assert (ran.code, "is no regular file" in ran.err) == (2, True)


def test_broken_yaml_is_told_with_its_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("services:\n  vllm:\n    image: vllm/vllm-openai\n    command: [a, 'b\n")
    ran = run("migrate", "compose.yaml")
    assert ran.code == 2
    assert ran.err.startswith("compose.yaml:") and "VM0102 error not readable as YAML" in ran.err
