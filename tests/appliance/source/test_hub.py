"""hf: sources: offline hits and misses, and what an unfriendly hub becomes. Each in a process of its own: the hub's
library reads its environment when it is imported."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import sys
from appliance.diagnostics import ApplianceError
from appliance.source import fetch
try:
    print(fetch(sys.argv[1], sys.argv[2] or None, download=sys.argv[3] == "download").path)
except ApplianceError as error:
    sys.exit(str(error))
"""


def ask(home: Path, source: str, how: str = "download", sha256: str = "", **environment: str) -> tuple[int, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, source, sha256, how],
        cwd=ROOT,
        env={**inherited, "HF_HOME": str(home), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout.strip()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hub cache that holds org/name at main."""
    folder = tmp_path_factory.mktemp("hub")
    repository = folder / "hub" / "models--org--name"
    snapshot = repository / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)
    return folder


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    """A hub that knows no repository but a gated one."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            gated, revision = "gated" in self.path, "known" in self.path
            self.send_response(403 if gated else 404)
            error = "GatedRepo" if gated else "RevisionNotFound" if revision else "RepoNotFound"
            self.send_header("X-Error-Code", error)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_HEAD(self) -> None:
            self.do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_offline_takes_what_is_cached(home: Path) -> None:
    code, text = ask(home, "hf:org/name", HF_HUB_OFFLINE="1")
    assert code == 0, text
    assert text.endswith("a" * 40)
    assert ask(home, "hf:org/name@main", "look") == (0, text)


def test_offline_miss_says_so_in_one_line(home: Path) -> None:
    code, text = ask(home, "hf:org/other", HF_HUB_OFFLINE="1")
    assert code == 1
    assert "AP0507" in text
    assert "HF_HUB_OFFLINE" in text
    assert "\n" not in text


def test_looking_never_downloads(home: Path) -> None:
    code, text = ask(home, "hf:org/other", "look", HF_ENDPOINT="http://127.0.0.1:1")
    assert code == 1
    assert "appliance pull" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("source", "words"),
    [("hf:org/none", "no such repository"), ("hf:org/gated", "is gated"), ("hf:org/known@v9", 'no revision "v9"')],
)
def test_hub_refusals(home: Path, hub: str, source: str, words: str) -> None:
    code, text = ask(home, source, HF_ENDPOINT=hub)
    assert code == 1
    assert "AP0507" in text
    assert words in text
    assert "\n" not in text


def test_unreachable_hub(home: Path) -> None:
    code, text = ask(home, "hf:org/none", HF_ENDPOINT="http://127.0.0.1:1")
    assert code == 1
    assert "AP0507" in text
    assert "\n" not in text


def test_sha256_does_not_fit_a_repository(home: Path) -> None:
    code, text = ask(home, "hf:org/name", "look", "0" * 64)
    assert code == 1
    assert "AP0503" in text
    assert "pin a commit" in text
