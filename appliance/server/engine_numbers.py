"""What the engines, the queue and the supervisor tell about themselves, read at each scrape."""

from collections.abc import Callable, Iterable
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from appliance.engine.protocol import STEP_TOKEN_BOUNDS, Ready, Stats
from appliance.server.board import Board
from appliance.server.metrics import LABELS
from appliance.server.pool import Engines, Replica
from appliance.server.shared import Shared

GAUGES: dict[str, tuple[str, Callable[[Ready | None, Stats | None], float]]] = {
    "vllm:num_requests_running": ("Requests in the batch.", lambda ready, stats: stats.running if stats else 0),
    "vllm:num_requests_waiting": (
        "Requests that wait for a place.",
        lambda ready, stats: stats.waiting if stats else 0,
    ),
    "vllm:kv_cache_usage_perc": (
        "Share of KV blocks held, 0 to 1.",
        lambda ready, stats: stats.kv_usage if stats else 0,
    ),
    "appliance_engine_up": ("1 while the engine serves.", lambda ready, stats: 1 if ready else 0),
    "appliance_engine_slots": (
        "Requests that can run at once.",
        lambda ready, stats: ready.max_sequences if ready else 0,
    ),
    "appliance_engine_free_slots": (
        "Places for requests that nobody has.",
        lambda ready, stats: stats.free_slots if stats else 0,
    ),
    "appliance_engine_blocks": ("Blocks of the KV cache.", lambda ready, stats: ready.num_blocks if ready else 0),
    "appliance_engine_free_blocks": (
        "Blocks that no request holds, cached ones too.",
        lambda ready, stats: stats.free_blocks if stats else 0,
    ),
    "appliance_engine_cached_blocks": (
        "Blocks that a later prompt may find.",
        lambda ready, stats: stats.cached_blocks if stats else 0,
    ),
}
COUNTERS: dict[str, tuple[str, Callable[[Stats | None], float]]] = {
    "vllm:prefix_cache_queries": ("Prompt tokens looked up.", lambda stats: stats.prefix_queries if stats else 0),
    "vllm:prefix_cache_hits": ("Prompt tokens found.", lambda stats: stats.prefix_hits if stats else 0),
    "vllm:num_preemptions": ("Preemptions.", lambda stats: stats.preemptions if stats else 0),
}


class EngineNumbers(Collector):
    """Of those that serve now and speak our protocol."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def collect(self) -> Iterable[Metric]:
        engines, model = self._shared.engines, self._shared.model
        if engines is None:
            return
        for name, (text, read) in GAUGES.items():
            gauge = GaugeMetricFamily(name, text, labels=LABELS)
            for replica in engines.replicas:
                client = replica.client
                gauge.add_metric((model, engines.label(replica)), read(client.ready, client.stats))
            yield gauge
        for name, (text, count) in COUNTERS.items():
            counter = CounterMetricFamily(name, text, labels=LABELS)
            for replica in engines.replicas:
                counter.add_metric((model, engines.label(replica)), count(replica.client.stats))
            yield counter
        yield _steps(engines, model)
        for replica in engines.replicas:
            if replica.client.ready:
                yield _cache((model, engines.label(replica)), replica.client.ready)


def _steps(engines: Engines, model: str) -> Metric:
    family = HistogramMetricFamily("vllm:iteration_tokens_total", "Tokens computed by one step.", labels=LABELS)
    for replica in engines.replicas:
        sizes, tokens = _sizes(replica)
        bounds = [*(str(float(bound)) for bound in STEP_TOKEN_BOUNDS), "+Inf"]
        family.add_metric(
            (model, engines.label(replica)), list(zip(bounds, accumulate(sizes), strict=True)), sum_value=tokens
        )
    return family


def _sizes(replica: Replica) -> tuple[list[int], int]:
    stats = replica.client.stats
    return (stats.step_sizes, stats.step_tokens) if stats else ([0] * (len(STEP_TOKEN_BOUNDS) + 1), 0)


def _cache(labels: tuple[str, str], ready: Ready) -> Metric:
    facts = {
        "block_size": str(ready.block_tokens),
        "num_gpu_blocks": str(ready.num_blocks),
        "cache_dtype": ready.kv_dtype,
        "kv_tokens": str(ready.kv_tokens),
        "max_sequences": str(ready.max_sequences),
        "architecture": ready.architecture,
    }
    info = GaugeMetricFamily("vllm:cache_config_info", "The KV cache.", labels=(*LABELS, *facts))
    info.add_metric((*labels, *facts.values()), 1)
    return info


class QueueNumbers(Collector):
    """Of all server processes together."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def collect(self) -> Iterable[Metric]:
        for name, text, value in (
            ("requests", "Unfinished requests, of limits.queue.requests.", self._board.all_requests),
            ("tokens", "Prompt tokens not yet prefilled, of limits.queue.tokens.", self._board.all_tokens),
            ("held", "Requests that wait for an engine that is being replaced.", self._board.all_held),
        ):
            yield GaugeMetricFamily(f"appliance_queue_{name}", text, value=value)
