"""From text to Profile: values, paths, references."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from appliance.profile import Profile, load
from appliance.profile.types import Tokens

HEAD = 'schema: 1\nname: triage\nrelease: "0.32"\n'


def made(tmp_path: Path, lines: str, **environ: str) -> Profile:
    (tmp_path / "p.yaml").write_text(HEAD + lines, encoding="utf-8")
    _, profile, findings = load(str(tmp_path / "p.yaml"), environ)
    assert findings == []
    assert profile is not None
    return profile


def test_defaults_are_the_documented_ones(tmp_path: Path) -> None:
    profile = made(tmp_path, "model: {source: /m}")
    assert profile.model.max_context == "auto"
    assert profile.kv_cache.block_tokens == 16
    assert profile.limits.body == 32 * 2**20
    assert profile.reload.drain == 30.0
    assert profile.security.bind == "127.0.0.1:8000"
    assert profile.security.cors.origins == ()
    assert profile.endpoints.systemone == "on"
    assert profile.endpoints.responses == "auto"
    assert profile.gitops is None


@pytest.mark.parametrize(
    ("written", "bytes_"), [("1", 1), ("1KiB", 1024), ("1.5 GiB", 3 * 2**29), ("4GB", 4_000_000_000), ("7 B", 7)]
)
def test_sizes(tmp_path: Path, written: str, bytes_: int) -> None:
    assert made(tmp_path, f"model: {{source: /m}}\nlimits: {{body: {written}}}").limits.body == bytes_


@pytest.mark.parametrize(("written", "seconds"), [("500ms", 0.5), ("30s", 30.0), ("1.5 m", 90.0), ("2h", 7200.0)])
def test_durations(tmp_path: Path, written: str, seconds: float) -> None:
    assert made(tmp_path, f"model: {{source: /m}}\nreload: {{drain: {written}}}").reload.drain == seconds


@pytest.mark.parametrize(("written", "size"), [("auto", "auto"), ("4GiB", 4 * 2**30), ("65536 tokens", Tokens(65536))])
def test_kv_size(tmp_path: Path, written: str, size: Any) -> None:
    assert made(tmp_path, f"model: {{source: /m}}\nkv_cache: {{size: {written}}}").kv_cache.size == size


@pytest.mark.parametrize(("written", "devices"), [("auto", "auto"), ("2", 2), ("[0, 3]", (0, 3))])
def test_devices(tmp_path: Path, written: str, devices: Any) -> None:
    assert made(tmp_path, f"model: {{source: /m}}\nhardware: {{devices: {written}}}").hardware.devices == devices


def test_relative_paths_start_at_the_profile_and_home_is_the_users(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    profile = made(tmp_path, "model: {source: models/x, chat_template: ~/t.jinja}\nsecurity: {api_keys: [{file: key}]}")
    assert profile.model.source == f"{tmp_path}/models/x"
    assert profile.model.chat_template == "/home/me/t.jinja"
    assert profile.security.api_keys[0].file == f"{tmp_path}/key"


def test_sources_that_are_no_paths_stay(tmp_path: Path) -> None:
    assert made(tmp_path, "model: {source: hf:a/b@main}").model.source == "hf:a/b@main"


def test_on_and_off_are_words_for_endpoints(tmp_path: Path) -> None:
    endpoints = made(tmp_path, "model: {source: /m}\nendpoints: {chat: off, completions: on}").endpoints
    assert (endpoints.chat, endpoints.completions) == ("off", "on")


def test_references(tmp_path: Path) -> None:
    lines = """
model:
  source: ${ROOT}/x/$${y}
  max_context: ${CONTEXT:-4096}
  served_names: ["${A:-a}-${B}", "${EMPTY:-filled}"]
  dtype: ${DTYPE}
kv_cache:
  prefix_caching: ${CACHE}
"""
    profile = made(tmp_path, lines, ROOT="/models", B="b", EMPTY="", DTYPE="float32", CACHE="false")
    assert profile.model.source == "/models/x/${y}"
    assert profile.model.max_context == 4096
    assert profile.model.served_names == ("a-b", "filled")
    assert profile.model.dtype == "float32"
    assert profile.kv_cache.prefix_caching is False


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    lines = "model: {source: /m}\nhardware: &h {memory_fraction: 0.5}\nsecurity: {media: {max_pixels: &n 7}}\n"
    profile = made(tmp_path, lines + "limits:\n  queue: {<<: {tokens: 5}, requests: *n}\n")
    assert (profile.limits.queue.tokens, profile.limits.queue.requests) == (5, 7)


def test_own_keys_win_over_merged_ones_and_the_first_merge_wins(tmp_path: Path) -> None:
    lines = "model: {source: /m}\nlimits:\n  queue: {<<: [{tokens: 5, requests: 1}, {tokens: 6}], requests: 7}\n"
    queue = made(tmp_path, lines).limits.queue
    assert (queue.requests, queue.tokens) == (7, 5)


def test_a_byte_order_mark_and_windows_lines_are_fine(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_bytes(b"\xef\xbb\xbf" + (HEAD + "model: {source: /m}\n").replace("\n", "\r\n").encode())
    _, profile, findings = load(str(tmp_path / "p.yaml"))
    assert (findings, profile is not None) == ([], True)


def test_profiles_are_frozen(tmp_path: Path) -> None:
    profile = made(tmp_path, "model: {source: /m}")
    with pytest.raises(ValueError, match="frozen"):
        profile.kv_cache.block_tokens = 32


def test_a_pipe_nobody_writes_to_is_told_and_another_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.yaml")
    _, profile, findings = load(str(tmp_path / "p.yaml"), {})
    assert profile is None and [finding.code for finding in findings] == ["AP0001"]
    text = f"{HEAD}model: {{source: /m}}\n"
    with subprocess.Popen(["sh", "-c", f"sleep 0.1; printf %s '{text}'"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        _, profile, findings = load(f"/dev/fd/{writer.stdout.fileno()}", {})
    assert findings == [] and profile is not None and profile.name == "triage"
