"""Run as a process: finds one wheel as this machine's pip would, and fetches it into a `.part` that can be resumed.

Mirrors, find-links, proxies, certificates, netrc and keyring credentials are pip's business, and it offers no public
door to them that can resume a download; so this one file speaks to pip's inside, and says `internals` where a pip has
none that fits (the caller then takes `pip download`). In: one JSON object on standard input. Out: JSON lines.
"""

import errno
import hashlib
import importlib
import json
import logging
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tenacity

CHUNK = 1 << 16
ATTEMPTS = 5
WORTH_GOING_ON = 16 << 20
"""Bytes that a round of attempts must bring to earn another round."""
SAY_EVERY = 0.1
"""Seconds between progress messages."""


class BrokenDownloadError(Exception):
    """The connection ended early; what came so far is kept."""


class FetchError(Exception):
    def __init__(self, kind: str, text: str = "", number: int | None = None) -> None:
        super().__init__(kind, text)
        self.message = {"error": kind, "text": re.sub(r"//[^/@\s]+@", "//***@", text), "errno": number}


def say(**message: object) -> None:
    print(json.dumps(message), flush=True)


class IndexTrouble(logging.Handler):
    """pip only logs that an index did not answer; these are the answers that were neither a page nor a 404."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith("Could not fetch URL") and "404" not in text:
            self.texts.append(text)


class Pip:
    """pip's session and finder, set up from its own options, environment and configuration files."""

    def __init__(self) -> None:
        try:
            commands = importlib.import_module("pip._internal.commands")
            specifiers = importlib.import_module("pip._vendor.packaging.specifiers")
            self.network: Any = importlib.import_module("pip._vendor.requests.exceptions").RequestException
            self.http: Any = importlib.import_module("pip._vendor.urllib3.exceptions").HTTPError
            self.specifier: Callable[[str], Any] = specifiers.SpecifierSet
            self.command: Any = commands.create_command("download")
            arguments = ["--no-deps", "--no-input", "--no-cache-dir", "--only-binary=:all:", "nothing"]
            self.options, _ = self.command.parse_args(arguments)
        except (ImportError, AttributeError, TypeError) as error:
            raise FetchError("internals", str(error)) from error

    def candidate(self, distribution: str, version: str) -> tuple[Any, Any]:
        """(session, link) of the wheel pip would take."""
        trouble = IndexTrouble()
        logger = logging.getLogger("pip._internal.index.collector")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(trouble)
        logger.propagate = False
        try:
            session = self.command._build_session(self.options)
            finder = self.command._build_package_finder(options=self.options, session=session)
            best = finder.find_best_candidate(distribution, self.specifier(f"=={version}")).best_candidate
        except (AttributeError, TypeError) as error:
            raise FetchError("internals", str(error)) from error
        except self.network as error:
            raise FetchError("network", str(error)) from error
        if best is None:
            raise FetchError("network", trouble.texts[-1]) if trouble.texts else FetchError("not_found")
        return session, best.link


def fetch(pip: Pip, session: Any, link: Any, part: Path) -> None:
    """One attempt: continues `part` where it ends, from the start where the server cannot."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        response = session.get(link.url_without_fragment, headers=headers, stream=True)
    except pip.network as error:
        raise BrokenDownloadError(str(error)) from error
    if response.status_code == 416:
        part.unlink()
        raise BrokenDownloadError("the partial file is longer than the wheel")
    if response.status_code >= 500 or response.status_code == 429:
        raise BrokenDownloadError(f"the index answered {response.status_code}")
    if response.status_code not in (200, 206):
        raise FetchError("network", f"the index answered {response.status_code} for {link.filename}")
    done = have if response.status_code == 206 else 0
    length = response.headers.get("Content-Length")
    total = done + int(length) if length else None
    if total is not None and shutil.disk_usage(part.parent).free < total - done:
        raise OSError(errno.ENOSPC, f"{total - done:,} bytes are needed")
    say(done=done, total=total, resumed=done > 0)
    said = time.monotonic()
    with part.open("ab" if done else "wb") as file:
        chunks = response.iter_content(CHUNK)
        while chunk := next_chunk(pip, chunks):
            file.write(chunk)
            done += len(chunk)
            if time.monotonic() - said > SAY_EVERY:
                said = time.monotonic()
                say(done=done, total=total)
    if total is not None and done < total:
        raise BrokenDownloadError(f"the connection ended after {done:,} of {total:,} bytes")
    say(done=done, total=total)


def next_chunk(pip: Pip, chunks: Iterator[bytes]) -> bytes:
    """Empty at the end, and where the connection breaks: the caller counts."""
    try:
        return next(chunks, b"")
    except (pip.network, pip.http, ConnectionError):
        return b""


def matches(part: Path, link: Any) -> bool:
    """True also where the index gave no hash: the profile's own sha256 judges then."""
    if link.hash_name not in hashlib.algorithms_guaranteed or not link.hash:
        return True
    with part.open("rb") as file:
        return hashlib.file_digest(file, link.hash_name).hexdigest() == str(link.hash).lower()


def download(pip: Pip, session: Any, link: Any, part: Path) -> None:
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(BrokenDownloadError),
        wait=tenacity.wait_exponential(multiplier=0.2, max=10),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        reraise=True,
    )
    resumed = part.exists()
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            retrying(fetch, pip, session, link, part)
        except BrokenDownloadError as error:
            if not part.exists() or part.stat().st_size - before < WORTH_GOING_ON:
                raise FetchError("network", str(error)) from error
            continue
        if matches(part, link) or not resumed:
            break
        part.unlink()
        resumed = False
    if not matches(part, link):
        part.unlink()
        raise FetchError("hash", f"{link.filename} does not have the {link.hash_name} that the index names")


def main() -> int:
    wish = json.loads(sys.stdin.readline())
    try:
        pip = Pip()
        with pip.command.main_context():
            session, link = pip.candidate(wish["distribution"], wish["version"])
            say(found=link.filename)
            part = Path(wish["folder"]) / f"{link.filename}.part"
            download(pip, session, link, part)
        say(wheel=str(part), hash=link.hash_name or None)
    except FetchError as failure:
        say(**failure.message)
        return 2
    except OSError as error:
        say(error="os", text=error.strerror or str(error), errno=error.errno)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
