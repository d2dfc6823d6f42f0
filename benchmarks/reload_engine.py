"""Edits that need other engine processes, and those that fail at their boot: what sixteen streaming clients notice."""

import shutil
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from reload_live import told, wait_for
from reload_site import Clients, Site, site
from reload_table import Measure

from appliance.supervise.history_records import Revision

CALM_ROUNDS = 3
"""Answers to every question before anything is edited: what an answer takes in peace."""


@dataclass(frozen=True)
class Window:
    """From a save to what became of it."""

    begun: float
    ended: float
    revision: Revision

    def meets(self, begun: float, ended: float) -> bool:
        return begun < self.ended and ended > self.begun


def replaced(model: Path, workdir: Path, strategy: str, requests: int) -> list[Measure]:
    """The same model on a KV pool of another size, again and again until so many requests were answered."""
    work = f"new engine by {strategy}"
    with site(model, workdir, strategy, strategy=strategy, longest=96) as made:
        expected = made.answers()
        with made.clients(expected) as clients:
            wait_for(clients, CALM_ROUNDS * len(made.asks))
            calm = len(clients.heard)
            windows = []
            while len(clients.heard) < calm + requests or not windows:
                pool = "320MiB" if len(windows) % 2 == 0 else "256MiB"
                windows.append(_reload(made, kv=pool))
                assert windows[-1].revision.outcome == "applied", windows[-1].revision
                assert windows[-1].revision.action == strategy, windows[-1].revision
                wait_for(clients, len(made.asks))
        return [Measure(work, "reloads", "", len(windows)), *_felt(work, clients, calm, windows)]


def undone(model: Path, broken: Path, workdir: Path, strategy: str, times: int) -> list[Measure]:
    """Another model, whose engine does not come up."""
    work = f"failing boot by {strategy}"
    with site(model, workdir, f"undone-{strategy}", strategy=strategy, longest=96) as made:
        first = float(made.up.wait_for(r"ready in (\S+) s").group(1))
        expected = made.answers()
        with made.clients(expected) as clients:
            wait_for(clients, CALM_ROUNDS * len(made.asks))
            calm = len(clients.heard)
            windows = []
            for _ in range(times):
                windows.append(_reload(made, model=str(broken)))
                assert windows[-1].revision.outcome == "failed", windows[-1].revision
                made.reload(model=str(model))
                wait_for(clients, len(made.asks))
        rows = _felt(work, clients, calm, windows)
        if strategy == "drain":
            back = [_phases(window, "again", "back to") for window in windows]
            rows.append(Measure(work, "old engine back, longest", "s", max(back), first))
            rows.append(Measure(work, "its first boot", "s", first))
        return rows


def vllm(executable: Path, model: Path, workdir: Path, strategy: str, times: int) -> list[Measure]:
    """vLLM under other options; its greedy text depends on the batch, so that any text is right.

    It compiles nothing: beside sixteen streams its compiler takes minutes, and no request depends on that.
    """
    work = f"new vLLM engine by {strategy}"

    def engine(sequences: int) -> str:
        own = f"command: [{executable}], options: {{enforce-eager: true}}"
        return f"backend: vllm, batching: {{max_sequences: {sequences}}}, vllm: {{{own}}}"

    name = f"vllm-{strategy}"
    with site(model, workdir, name, engine=engine(32), strategy=strategy) as made, made.clients({}) as clients:
        wait_for(clients, CALM_ROUNDS * len(made.asks))
        calm = len(clients.heard)
        windows = []
        for number in range(times):
            windows.append(_reload(made, engine=engine(24 if number % 2 == 0 else 32)))
            assert windows[-1].revision.outcome == "applied", windows[-1].revision
            assert windows[-1].revision.action == strategy, windows[-1].revision
            wait_for(clients, 2 * len(made.asks))
    return [Measure(work, "reloads", "", len(windows)), *_felt(work, clients, calm, windows)]


def broken_copy(model: Path, into: Path) -> Path:
    """A checkpoint that validates, and lacks a tensor when its engine loads it."""
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(model, into)
    weights = into / "model.safetensors"
    name = b'"model.layers.3.mlp.up_proj.weight"'
    content = weights.read_bytes()
    assert content.count(name) == 1
    weights.write_bytes(content.replace(name, name.replace(b"proj", b"prox")))
    return into


def _reload(made: Site, **settings: str) -> Window:
    begun = time.monotonic()
    revision = made.reload(**settings)
    return Window(begun, time.monotonic(), revision)


def _phases(window: Window, *parts: str) -> float:
    """Seconds of those phases with one of these in their name."""
    return sum(phase.seconds for phase in window.revision.phases if any(part in phase.name for part in parts))


def _felt(work: str, clients: Clients, calm: int, windows: list[Window]) -> list[Measure]:
    """`calm` answers came before the first of the windows."""
    usual: dict[int, list[float]] = defaultdict(list)
    for heard in clients.heard[:calm]:
        usual[heard.number].append(heard.seconds)
    peace = {number: median(seconds) for number, seconds in usual.items()}
    during = [
        heard for heard in clients.heard[calm:] if any(window.meets(heard.begun, heard.ended) for window in windows)
    ]
    added = sorted(max(0.0, heard.seconds - peace[heard.number]) for heard in during)
    cuts = quantiles(added, n=100) if len(added) > 1 else [*added] * 99
    before = clients.heard[:calm]
    return [
        *told(work, clients),
        Measure(work, "seconds of a reload, median", "s", median(w.ended - w.begun for w in windows)),
        Measure(work, "added latency, p50", "s", cuts[49]),
        Measure(work, "added latency, p99", "s", cuts[98]),
        Measure(work, "longest wait for a first token", "s", max(heard.first for heard in during)),
        Measure(work, "the same in peace", "s", max(heard.first for heard in before)),
        Measure(work, "longest pause of a stream", "s", max(heard.pause for heard in during)),
        Measure(work, "the same in peace", "s", max(heard.pause for heard in before)),
    ]
