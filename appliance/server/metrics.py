"""Prometheus numbers under the names that vLLM dashboards and autoscalers scrape, counted by the server itself.

They outlive every state of the server; a new served name or another replica is another label. Where several server
processes share the work, they count in files of one folder, and any of them tells the sums.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

disable_created_metrics()  # type: ignore[no-untyped-call]

LABELS = ("model_name", "engine")

_HALF_TO_80 = (0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_SECONDS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, *_HALF_TO_80, 160, 640, 2560)
_LONG_SECONDS = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_BETWEEN_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, *_HALF_TO_80)
_TOKENS = (*(digit * 10**power for power in range(6) for digit in (1, 2, 5)), 1_000_000)
_COUNTS = (1, 2, 5, 10, 20)

COUNTERS = {
    "prompt_tokens": "Prompt tokens of requests that reached their first token.",
    "prompt_tokens_cached": "Prompt tokens whose KV was found in the cache.",
    "generation_tokens": "Tokens generated.",
}
HISTOGRAMS: dict[str, tuple[str, tuple[float, ...]]] = {
    "time_to_first_token_seconds": ("Arrival to first token.", _SECONDS),
    "inter_token_latency_seconds": ("Between two tokens.", _BETWEEN_SECONDS),
    "request_time_per_output_token_seconds": ("A request's mean time per token after its first.", _BETWEEN_SECONDS),
    "e2e_request_latency_seconds": ("Arrival to end.", _LONG_SECONDS),
    "request_queue_time_seconds": ("Arrival to first run.", _LONG_SECONDS),
    "request_inference_time_seconds": ("First run to end.", _LONG_SECONDS),
    "request_prefill_time_seconds": ("First run to first token.", _LONG_SECONDS),
    "request_decode_time_seconds": ("First token to end.", _LONG_SECONDS),
    "request_prompt_tokens": ("Prompt tokens of a request.", _TOKENS),
    "request_generation_tokens": ("Tokens a request generated.", _TOKENS),
    "request_params_n": ("n of a request.", _COUNTS),
    "request_params_max_tokens": ("max_tokens of a request.", _TOKENS),
    "request_num_preemptions": ("Times a request was preempted.", (0, *_COUNTS)),
}
REASONS = ("stop", "length", "abort", "error")


@dataclass(frozen=True)
class Numbers:
    """Those of one served name and replica."""

    prompt_tokens: Counter
    prompt_tokens_cached: Counter
    generation_tokens: Counter
    ends: dict[str, Counter]
    """By finished_reason."""
    first_token: Histogram
    between_tokens: Histogram
    per_token: Histogram
    whole: Histogram
    queued: Histogram
    inference: Histogram
    prefill: Histogram
    decode: Histogram
    request_prompt: Histogram
    request_generation: Histogram
    params_n: Histogram
    params_max_tokens: Histogram
    preemptions: Histogram

    def finished(self, reason: str) -> None:
        self.ends[reason].inc()


class Metrics:
    """`folder` is where several processes count together, None for one process alone."""

    def __init__(self, folder: str | None = None) -> None:
        self._registry = CollectorRegistry()
        counting = self._registry if folder is None else None
        self._counters = [Counter(f"vllm:{n}", text, LABELS, registry=counting) for n, text in COUNTERS.items()]
        self._ends = Counter(
            "vllm:request_success", "Finished requests by reason.", (*LABELS, "finished_reason"), registry=counting
        )
        self.rejections = Counter(
            "vllm:admission_rejections",
            "Requests refused by a queue limit.",
            ("model_name", "reason"),
            registry=counting,
        )
        self._histograms = [
            Histogram(f"vllm:{name}", text, LABELS, registry=counting, buckets=buckets)
            for name, (text, buckets) in HISTOGRAMS.items()
        ]
        if folder is not None:
            MultiProcessCollector(self._registry, folder)  # type: ignore[no-untyped-call]
        self.numbers = lru_cache(maxsize=256)(self._numbers)

    def _numbers(self, model: str, engine: str) -> Numbers:
        ends = {reason: self._ends.labels(model, engine, reason) for reason in REASONS}
        prompt, cached, generated = (counter.labels(model, engine) for counter in self._counters)
        return Numbers(prompt, cached, generated, ends, *(each.labels(model, engine) for each in self._histograms))

    def add(self, collectors: Iterable[Collector]) -> None:
        """More numbers, read at each scrape."""
        for collector in collectors:
            self._registry.register(collector)

    def render(self) -> bytes:
        return generate_latest(self._registry)
