"""Edits that leave the engine's processes alone: how soon a saved one is seen, and that no client notices."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx
from reload_site import Clients, Site, site
from reload_table import Measure

from appliance.supervise.history_records import Revision

VISIBLE_SECONDS = 0.1
PROBE_EVERY = 0.01
BEYOND = b'{"model": "nobody", "prompt": "' + b"x" * 40_000 + b'"}'
JSON = {"content-type": "application/json"}
Seen = Callable[[Site, httpx.Client], bool]


@dataclass(frozen=True)
class Live:
    name: str
    field: str
    values: tuple[str, str]
    """The edit goes from the first to the second, and back unmeasured."""
    seen: Seen
    at_once: int = 1
    """Probes under way, where an answer takes longer than the edit."""


def _names(site: Site, client: httpx.Client) -> bool:
    return "second" in [card["id"] for card in client.get("/v1/models").json()["data"]]


def _limit(site: Site, client: httpx.Client) -> bool:
    return client.post("/v1/completions", content=BEYOND, headers=JSON).status_code == 413


def _origin(site: Site, client: httpx.Client) -> bool:
    answer = client.get("/v1/models", headers={"origin": "https://console.example"})
    return "access-control-allow-origin" in answer.headers


def _default(site: Site, client: httpx.Client) -> bool:
    body = {"model": "bench", "prompt": "One", "ignore_eos": True}
    return bool(client.post("/v1/completions", json=body).json()["usage"]["completion_tokens"] == 1)


def _level(site: Site, client: httpx.Client) -> bool:
    """At `debug` a probe of health is logged."""
    before = sum("/health" in line for line in site.up.lines)
    client.get("/health")
    time.sleep(0.002)
    return sum("/health" in line for line in site.up.lines) > before


def _slots(site: Site, client: httpx.Client) -> bool:
    return "appliance_engine_slots" in (text := client.get("/metrics").text) and _slot_count(text) == 24


def _slot_count(text: str) -> float:
    return next(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("appliance_engine_slots{")
    )


LIVE = (
    Live("served names", "names", ("bench", "bench, second"), _names),
    Live("body limit", "body", ("1MiB", "32KiB"), _limit),
    Live("CORS origins", "origin", ("", "https://console.example"), _origin),
    Live("default output length", "default", ("2", "1"), _default, at_once=12),
    Live("log level", "level", ("info", "debug"), _level),
)
RECONFIGURE = (
    Live(
        "places in the batch",
        "engine",
        ("batching: {max_sequences: 32}", "batching: {max_sequences: 24}"),
        _slots,
    ),
)


def run(model: Path, workdir: Path, rounds: int) -> list[Measure]:
    with site(model, workdir, "live", default="2") as made:
        expected = made.answers()
        rows = []
        kinds = (("live: save to seen", LIVE, VISIBLE_SECONDS), ("reconfigure: save to seen", RECONFIGURE, None))
        for work, edits, most in kinds:
            with made.clients(expected) as clients:
                wait_for(clients, len(made.asks))
                times = {edit.name: [_visible(made, edit) for _ in range(rounds)] for edit in edits}
            rows += _rows(work, times, most, clients)
        assert made.status().generation == 1, "an engine was replaced"
        return rows


def wait_for(clients: Clients, heard: int) -> None:
    """Until so many more answers have ended."""
    goal = len(clients.heard) + heard
    while len(clients.heard) < goal:
        time.sleep(0.05)


def _visible(made: Site, edit: Live) -> tuple[float, Revision]:
    """Seconds from the save to the moment when the first request was sent that shows it, and the reload's record."""
    made.reload(**{edit.field: edit.values[0]})
    with httpx.Client(base_url=made.url, timeout=120) as client, ThreadPoolExecutor(edit.at_once) as pool:
        assert not edit.seen(made, client), edit.name
        saved = made.save(**{edit.field: edit.values[1]})
        shown: list[float] = []

        def probe() -> None:
            begun = time.monotonic()
            if edit.seen(made, client):
                shown.append(begun)

        sent: list[Future[None]] = []
        while not shown:
            assert time.monotonic() - saved < 120, f"{edit.name} is not seen"
            if sum(not probe.done() for probe in sent) < edit.at_once:
                sent.append(pool.submit(probe))
            time.sleep(PROBE_EVERY)
        for under_way in sent:
            under_way.result()
    made.settle()
    last = made.status().last_reload
    assert last is not None and last.outcome == "applied", last
    return min(shown) - saved, last


def _rows(
    work: str, times: dict[str, list[tuple[float, Revision]]], most: float | None, clients: Clients
) -> list[Measure]:
    rows = [
        Measure(work, f"{name}, median", "s", median(seen for seen, _ in found), most) for name, found in times.items()
    ]
    everything = [pair for found in times.values() for pair in found]
    for part, names in (("checks and plan", {"validate", "model", "plan"}), ("proof", {"proof"})):
        spent = [sum(phase.seconds for phase in last.phases if phase.name in names) for _, last in everything]
        rows.append(Measure(work, f"of that {part}, median", "s", median(spent)))
    return [*rows, Measure(work, "longest", "s", max(seen for seen, _ in everything)), *told(work, clients)]


def told(work: str, clients: Clients) -> list[Measure]:
    """Answers that were lost or were not what they had to be; prints the first of them."""
    lost = [heard for heard in clients.heard if heard.lost]
    for fault in clients.faults[:5]:
        print(f"{work}: {fault}")
    return [
        Measure(work, "answers", "", len(clients.heard)),
        Measure(work, "failed requests", "", sum(not heard.chunks for heard in lost), 0),
        Measure(work, "cut streams", "", sum(bool(heard.chunks) for heard in lost), 0),
        Measure(work, "answers with another content", "", sum(bool(heard.wrong) for heard in clients.heard), 0),
    ]
