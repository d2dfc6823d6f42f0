"""Wheels made on the spot, and a package index on 127.0.0.1 that can be told to misbehave."""

import base64
import hashlib
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def make_wheel(folder: Path, files: dict[str, bytes], name: str = "tiny_model", version: str = "1.0") -> Path:
    """Stored uncompressed, so that its size is known to the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in files.items():
            archive.writestr(inside, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


@dataclass
class Index:
    """Serves one wheel at /simple/tiny-model/."""

    wheel: Path
    drop_after: list[int] = field(default_factory=list)
    """One entry per answer: the connection is cut after so many bytes."""
    sha256: str = ""
    """Hash the page names; empty = the true one."""
    login: str = ""
    """user:password that every request must carry."""
    ranges: list[str] = field(default_factory=list)
    """The Range header of each request for the wheel, "" without one."""
    url: str = ""

    def page(self) -> bytes:
        digest = self.sha256 or hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        return f'<a href="/files/{self.wheel.name}#sha256={digest}">{self.wheel.name}</a>'.encode()


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def answer(self, status: int, content: bytes, headers: dict[str, str], limit: int | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[:limit])
            self.close_connection = True

        def do_GET(self) -> None:
            wanted = "Basic " + base64.b64encode(index.login.encode()).decode()
            if index.login and self.headers.get("Authorization") != wanted:
                self.answer(401, b"", {"WWW-Authenticate": "Basic"})
            elif self.path == "/simple/tiny-model/":
                self.answer(200, index.page(), {"Content-Type": "text/html"})
            elif self.path.startswith("/files/"):
                self.send_wheel()
            else:
                self.answer(404, b"", {})

        def send_wheel(self) -> None:
            content = index.wheel.read_bytes()
            index.ranges.append(self.headers.get("Range", ""))
            limit = index.drop_after.pop(0) if index.drop_after else None
            if not index.ranges[-1]:
                self.answer(200, content, {}, limit)
                return
            start = int(index.ranges[-1].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            where = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.answer(206, content[start:], {"Content-Range": where}, limit)

    return Handler


@contextmanager
def serve(index: Index) -> Iterator[Index]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(index))
    login = f"{index.login}@" if index.login else ""
    index.url = f"http://{login}127.0.0.1:{server.server_port}/simple"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
