"""Folders, .gguf files and the text of a source."""

import hashlib
import os
from pathlib import Path

import pytest

from appliance.diagnostics import ApplianceError, Position
from appliance.source import fetch


def refusal(source: str, sha256: str | None = None, base: Path | None = None) -> str:
    with pytest.raises(ApplianceError) as caught:
        fetch(source, sha256, base=base, position=Position("p.yaml", 4, 11), digest=Position("p.yaml", 5, 11))
    text = str(caught.value)
    assert text.startswith("p.yaml:5:11 AP0503" if "model.sha256:" in text else "p.yaml:4:11 AP05")
    return text


def test_folder_relative_to_the_profile(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text("{}")
    assert fetch("./m", base=tmp_path).path == (tmp_path / "m").resolve()
    assert fetch(str(tmp_path / "m")).path == (tmp_path / "m").resolve()


def test_gguf_is_hashed_once_while_it_does_not_change(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF" * 1000)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert fetch(str(file), sha256).sha256 == sha256
    stamps = list((cache / "stamps").iterdir())
    assert len(stamps) == 1
    assert "model.sha256" in refusal(str(file), "0" * 64)
    stat = file.stat()
    file.write_bytes(b"FUGG" * 1000)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    message = refusal(str(file), sha256)
    assert "AP0503" in message
    assert file.exists()


def test_stamp_that_is_garbage_is_not_believed(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    sha256 = hashlib.sha256(b"GGUF").hexdigest()
    fetch(str(file), sha256)
    (stamp,) = (cache / "stamps").iterdir()
    for text in ("", "[]", "{", '{"sha256": 3}'):
        stamp.write_text(text)
        assert fetch(str(file), sha256).sha256 == sha256


def test_missing_and_wrong_kinds(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "dir.gguf").mkdir()
    assert "no folder" in refusal("gone", base=tmp_path)
    assert "no file" in refusal("gone.gguf", base=tmp_path)
    assert "no config.json" in refusal("empty", base=tmp_path)
    assert "is a file" in refusal("file", base=tmp_path)
    assert "is a folder" in refusal("dir.gguf", base=tmp_path)
    (tmp_path / "empty" / "config.json").write_text("{}")
    assert "AP0503" in refusal("empty", "0" * 64, base=tmp_path)


@pytest.mark.parametrize(
    "text", ["s3:bucket/model", "hf:name", "pypi:dist==1.0", "pypi:dist#a", "pypi:d==1#../x", "", " "]
)
def test_not_a_source(text: str) -> None:
    assert "AP0501" in refusal(text)
