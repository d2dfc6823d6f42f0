"""The tier that asks the machine, and that --offline leaves out."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.validate import validate

Check = Callable[..., Any]


def lines(result: Any) -> dict[str, str]:
    return {
        diagnostic.code: f"{diagnostic.severity} {diagnostic.path}: {diagnostic.message}"
        for diagnostic in result.diagnostics
    }


def test_missing_folder(check: Check, tmp_path: Path) -> None:
    assert lines(check(""))["AP0301"] == f"error model.source: no folder {tmp_path}/model"


def test_a_hub_name_without_its_prefix(check: Check) -> None:
    result = check("", source="Qwen/Qwen3-0.6B")
    assert result.diagnostics[0].fix == "did you mean hf:Qwen/Qwen3-0.6B?"


def test_offline_asks_nothing_of_the_machine(check: Check, tmp_path: Path) -> None:
    check("security: {api_keys: [{env: NOWHERE}, {file: nothing}], bind: 203.0.113.1:80}")
    assert validate(tmp_path / "profile.yaml", offline=True).diagnostics == ()


def test_keys_of_the_environment(check: Check) -> None:
    keys = "security: {api_keys: [{env: GOOD}, {env: BLANK}, {env: GONE}]}"
    result = check(keys, environ={"GOOD": "sk-value", "BLANK": "  "})
    found = [str(finding) for finding in result.diagnostics if finding.code == "AP0305"]
    assert ["BLANK is empty" in found[0], "GONE is not set" in found[1], len(found)] == [True, True, 2]
    assert "sk-value" not in "".join(map(str, result.diagnostics))


def test_key_files(check: Check, tmp_path: Path) -> None:
    for name, text, mode in (("good", "sk-a\n", 0o600), ("empty", "\n", 0o600), ("open", "sk-b\n", 0o644)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    result = check("security: {api_keys: [{file: good}, {file: empty}, {file: open}, {file: gone}, {file: .}]}")
    found = [(finding.code, finding.path) for finding in result.diagnostics if finding.path.startswith("security")]
    assert found == [
        ("AP0306", "security.api_keys[1]"),
        ("AP0307", "security.api_keys[2]"),
        ("AP0306", "security.api_keys[3]"),
        ("AP0306", "security.api_keys[4]"),
    ]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: os.mkfifo(path), "is not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
        (lambda path: path.write_bytes(b"\xff\xfesk-a"), "is not UTF-8"),
        (lambda path: path.write_text("sk-a\0\n"), "no header carries"),
        (lambda path: path.write_text("sk-a" * 2000), "longer than 4096 bytes"),
    ],
    ids=["pipe", "device", "bytes", "control", "long"],
)
def test_key_files_that_hold_no_key(make: Callable[[Path], Any], says: str, check: Check, tmp_path: Path) -> None:
    make(tmp_path / "key")
    found = lines(check("security: {api_keys: [{file: key}]}"))["AP0306"]
    assert says in found and "sk-a" not in found


def test_port_in_use_is_a_warning(check: Check) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = lines(check(f"security: {{bind: 127.0.0.1:{port}}}"))
    assert found["AP0309"].startswith("warning security.bind")


def test_address_of_another_machine(check: Check) -> None:
    assert "cannot listen" in lines(check("security: {bind: 203.0.113.7:8000}"))["AP0308"]


def test_files_that_are_named(check: Check, tmp_path: Path) -> None:
    (tmp_path / "good.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    (tmp_path / "bad.jinja").write_text("{% for m in messages %}\n{{ m.content")
    assert lines(check("", chat_template="gone.jinja"))["AP0303"] == (
        f"error model.chat_template: no file {tmp_path}/gone.jinja"
    )
    assert "bad.jinja:2: not a Jinja template" in lines(check("", chat_template="bad.jinja"))["AP0304"]
    assert {"AP0303", "AP0304"}.isdisjoint(lines(check("", chat_template="good.jinja")))


@pytest.mark.parametrize("data", [b"\xff\xfe\x00s", b"schema: 1\nname: \xe4\n"])
def test_not_utf8(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "profile.yaml").write_bytes(data)
    (finding,) = validate(tmp_path / "profile.yaml").diagnostics
    assert finding.code == "AP0002"
    assert finding.position.line == data[: data.index(max(data))].count(b"\n") + 1


def test_control_character(tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("schema: 1\nname: a\x07b\n")
    (finding,) = validate(tmp_path / "profile.yaml").diagnostics
    assert (finding.code, finding.position.line, finding.position.column) == ("AP0006", 2, 8)


def test_ten_megabytes(tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("a: b\n" * 2_000_000)
    (finding,) = validate(tmp_path / "profile.yaml").diagnostics
    assert finding.code == "AP0003"


@pytest.mark.parametrize("name", ["gone.yaml", "", "folder", "nul\0"])
def test_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    result = validate(f"{tmp_path}/{name}")
    assert [finding.code for finding in result.diagnostics] == ["AP0001"]
    assert not result.readable


def test_a_key_of_another_user_may_have_a_group(check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster's Secret: root's file, readable by the pod's group. ssh takes it, so it is no error."""
    key = tmp_path / "key"
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    key.chmod(0o440)
    text = "gitops: {repo: 'git@example.org:x.git', path: p.yaml, credentials: {file: key}}"
    assert [one.code for one in check(text).diagnostics if one.path.startswith("gitops")] == ["AP0307"]
    monkeypatch.setattr("os.getuid", lambda: key.stat().st_uid + 1)
    assert not [one for one in check(text).diagnostics if one.path.startswith("gitops")]


def test_what_opens_a_followed_repository(check: Check, tmp_path: Path) -> None:
    """By reference, for https and for ssh, and never shown."""
    key = tmp_path / "key"
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    key.chmod(0o640)
    text = "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n"
    https, ssh = "https://example.org/x.git", "git@example.org:x.git"
    cases = [
        (https, "env: GONE", "AP0305 GONE is not set"),
        (https, "file: nothing", "AP0306 nothing cannot be read"),
        (ssh, "env: GONE", "AP0305 GONE is not set"),
        (ssh, "env: TOKEN", "AP0305 holds no private key"),
        (ssh, "env: KEY", ""),
        (ssh, "file: key", "AP0307 ssh refuses"),
        (https, "env: TOKEN", ""),
    ]
    for repo, given, expected in cases:
        result = check(
            f"gitops: {{repo: '{repo}', path: p.yaml, credentials: {{{given}}}}}",
            environ={"TOKEN": "a-secret-token", "KEY": text},
        )
        found = [f"{one.code} {one.message}" for one in result.diagnostics if one.path.startswith("gitops")]
        code, _, words = expected.partition(" ")
        assert bool(found) == bool(expected), found
        assert not found or (found[0].startswith(code) and words in found[0])
        assert "secret" not in "".join(map(str, result.diagnostics))
