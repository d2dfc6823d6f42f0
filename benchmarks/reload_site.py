"""An appliance whose profile is edited while sixteen clients stream from it."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from traffic import words

from appliance.supervise.admin_client import AdminClient
from appliance.supervise.admin_protocol import Reload, Show, Shown, Status, StatusAnswer, Tried
from appliance.supervise.history_records import Revision
from appliance.supervise.status import ApplianceStatus

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))
from judged_streams import Ask, Clients, answers, streaming
from running import Running, boot

CLIENTS = 16
RELOAD_SECONDS = 1800.0
PROFILE = """\
schema: 1
name: bench
release: "0.32"
model: {{source: "{model}", served_names: [{names}], max_context: 2048{template}}}
kv_cache: {{size: {kv}}}
engine: {{{engine}}}
limits: {{body: {body}, max_tokens: {{default: {default}}}}}
security: {{cors: {{origins: [{origin}]}}}}
reload: {{strategy: {strategy}, drain: 60s}}
observability: {{log_level: {level}}}
"""
NATIVE = "batching: {max_sequences: 32}"


@dataclass
class Site:
    folder: Path
    settings: dict[str, str]
    running: Running | None = None
    asks: tuple[Ask, ...] = field(default_factory=tuple)

    @property
    def up(self) -> Running:
        assert self.running is not None
        return self.running

    @property
    def url(self) -> str:
        return self.up.base_url

    @property
    def text(self) -> str:
        defaults = {
            "names": "bench",
            "template": "",
            "kv": "256MiB",
            "engine": NATIVE,
            "body": "1MiB",
            "default": "64",
            "origin": "",
            "strategy": "auto",
            "level": "info",
        }
        return PROFILE.format(**defaults | self.settings)

    def save(self, **settings: str) -> float:
        """As an editor does, by a rename; the moment after it."""
        self.settings |= settings
        file, new = self.folder / "profile.yaml", self.folder / "profile.new"
        new.write_text(self.text)
        new.replace(file)
        return time.monotonic()

    def reload(self, **settings: str) -> Revision:
        """Saves, and waits until what was saved has been tried: its record."""
        self.save(**settings)
        with AdminClient(self.folder / "state", "bench") as client:
            outcome = client.ask(Reload(), Tried, seconds=RELOAD_SECONDS).outcome
            assert outcome.revision is not None
            tried = client.ask(Show(revision=outcome.revision), Shown).revision
            if tried.outcome != "unchanged":
                return tried
            # the watcher came first
            return client.ask(Show(revision=outcome.revision - 1), Shown).revision

    def status(self) -> ApplianceStatus:
        with AdminClient(self.folder / "state", "bench") as client:
            return client.ask(Status(), StatusAnswer).status

    def settle(self) -> None:
        """Until nothing is tried."""
        while (now := self.status()).reloading or now.waiting:
            time.sleep(0.1)

    @contextmanager
    def clients(self, expected: dict[int, frozenset[str]]) -> Iterator[Clients]:
        with streaming(lambda: self.url, self.asks, CLIENTS, expected) as clients:
            yield clients

    def answers(self) -> dict[int, frozenset[str]]:
        return answers(self.url, self.asks)


def asks(longest: int) -> tuple[Ask, ...]:
    """One per client: chats and completions, a quarter of them long."""
    source = Random(4)
    lengths = (longest // 6, longest // 4, longest // 3, longest)
    return tuple(
        Ask(words(source, 20 + 3 * number), lengths[number % 4], chat=number % 8 < 4) for number in range(CLIENTS)
    )


@contextmanager
def site(model: Path, workdir: Path, name: str, longest: int = 48, **settings: str) -> Iterator[Site]:
    folder = workdir / f"reload-{name}-{int(time.time())}"
    folder.mkdir(parents=True)
    made = Site(folder, {"model": str(model), **settings}, asks=asks(longest))
    # tests keep their engines to one thread
    threads = {"OMP_NUM_THREADS": str(os.cpu_count() or 1)}
    with boot(made.text, folder, ready=False, environment=threads) as made.running:
        made.running.wait_ready(RELOAD_SECONDS)
        yield made
