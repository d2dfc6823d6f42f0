"""A supervisor over fake children whose profile is edited while it runs."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from bare_model import bare_model
from running import ROOT, Running, start

SUPPORT = ROOT / "tests" / "support"
PROFILE = """\
schema: 1
name: fake
release: "0.32"
model: {{source: {model}, served_names: [{names}]}}
reload: {{drain: {drain}, watch: {watch}, strategy: {strategy}}}
security: {{bind: "{bind}", api_keys: [{keys}]}}
kv_cache: {{size: {pool}, block_tokens: {block}}}
{more}
"""


@dataclass
class Faked:
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    """What the profile says now, beside the defaults."""
    running: Running | None = None

    @property
    def profile(self) -> Path:
        return self.folder / "fake.yaml"

    @property
    def state_folder(self) -> Path:
        return self.folder / "state"

    @property
    def up(self) -> Running:
        assert self.running is not None
        return self.running

    def write(self, **settings: str) -> None:
        """A new text in the file: the defaults, with `settings`."""
        self.settings = settings
        defaults = {
            "model": str(self.folder / "model"),
            "names": "fake",
            "watch": "false",
            "drain": "5s",
            "strategy": "auto",
            "bind": "127.0.0.1:0",
            "keys": "",
            "pool": "1MiB",
            "block": "16",
            "more": "",
        }
        self.profile.write_text(PROFILE.format(**defaults | settings))

    def hang_up(self) -> None:
        self.up.process.send_signal(signal.SIGHUP)

    def edit(self, **settings: str) -> str:
        """Saves, asks for it by SIGHUP, and waits for its end: `applied`, `failed` ..., as the report puts it."""
        seen = len(self.endings())
        self.write(**settings)
        self.hang_up()
        ended = self.ending(seen)
        if applied := re.match(r"revision (\d+): applied", ended):
            # the line is printed a moment before the status is written
            self.up.wait_until(lambda: self.written["revision"] == int(applied.group(1)))
        self.up.base_url = str(self.written["url"])
        return ended

    @property
    def written(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.state_folder / "status.json").read_text())
        return found

    def endings(self) -> list[str]:
        return re.findall(r"^revision \d+: (?:.*), \d+\.\d\d s.*$", self.up.output, re.MULTILINE)

    def ending(self, after: int) -> str:
        self.up.wait_until(lambda: len(self.endings()) > after)
        return self.endings()[after]

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(f"{self.up.base_url}{path}", timeout=30, **options)

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get("/state").json()
        return found

    @property
    def pids(self) -> dict[str, int]:
        found: dict[str, int] = self.get("/pids").json()
        return found


@contextmanager
def faked(
    folder: Path, boot: bool = True, environment: Mapping[str, str] | None = None, **settings: str
) -> Iterator[Faked]:
    """Settings of the first profile; without `model` it is one that fake children alone can run."""
    if "model" not in settings:
        bare_model(folder / "model")
    made = Faked(folder)
    made.write(**settings)
    if boot:
        with again(made, **environment or {}):
            yield made
    else:
        yield made


@contextmanager
def again(made: Faked, ready: bool = True, **environment: str) -> Iterator[Running]:
    """One `up` of it."""
    command = [sys.executable, str(SUPPORT / "fake_up.py"), str(made.state_folder), str(made.profile)]
    with start(
        command, {"PYTHONPATH": os.pathsep.join([str(ROOT), str(SUPPORT)]), "FAKE_DEATHS": "50", **environment}
    ) as running:
        made.running = running
        if ready:
            running.base_url = running.wait_for(r"ready in .* on (http://127\.0\.0\.1:\d+)").group(1)
        yield running
