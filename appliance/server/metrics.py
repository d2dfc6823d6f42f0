"""Prometheus numbers under the names that vLLM dashboards and autoscalers scrape, and the appliance's own."""

from collections.abc import Callable, Iterable
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from appliance.engine.protocol import STEP_TOKEN_BOUNDS, Ready, Stats
from appliance.server.admission import Admission
from appliance.server.config import ServerConfig

disable_created_metrics()  # type: ignore[no-untyped-call]

ENGINE = "0"

_SECONDS = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
    160,
    640,
    2560,
)
_LONG_SECONDS = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_BETWEEN_SECONDS = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.075,
    0.1,
    0.15,
    0.2,
    0.3,
    0.4,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
)
_TOKENS = (
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1000,
    2000,
    5000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
)
_COUNTS = (1, 2, 5, 10, 20)


class Metrics:
    def __init__(self, config: ServerConfig) -> None:
        self.registry = CollectorRegistry()
        self._labels = {"model_name": config.served_names[0], "engine": ENGINE}
        self.prompt_tokens = self._counter("prompt_tokens", "Prompt tokens of requests that reached their first token.")
        self.prompt_tokens_cached = self._counter(
            "prompt_tokens_cached", "Prompt tokens whose KV was found in the cache."
        )
        self.generation_tokens = self._counter("generation_tokens", "Tokens generated.")
        self._success = Counter(
            "vllm:request_success",
            "Finished requests by reason.",
            [*self._labels, "finished_reason"],
            registry=self.registry,
        )
        for reason in ("stop", "length", "abort", "error"):
            self._success.labels(**self._labels, finished_reason=reason)
        self.first_token = self._histogram("time_to_first_token_seconds", "Arrival to first token.", _SECONDS)
        self.between_tokens = self._histogram("inter_token_latency_seconds", "Between two tokens.", _BETWEEN_SECONDS)
        self.per_token = self._histogram(
            "request_time_per_output_token_seconds",
            "A request's mean time per token after its first.",
            _BETWEEN_SECONDS,
        )
        self.whole = self._histogram("e2e_request_latency_seconds", "Arrival to end.", _LONG_SECONDS)
        self.queued = self._histogram("request_queue_time_seconds", "Arrival to first run.", _LONG_SECONDS)
        self.inference = self._histogram("request_inference_time_seconds", "First run to end.", _LONG_SECONDS)
        self.prefill = self._histogram("request_prefill_time_seconds", "First run to first token.", _LONG_SECONDS)
        self.decode = self._histogram("request_decode_time_seconds", "First token to end.", _LONG_SECONDS)
        self.request_prompt = self._histogram("request_prompt_tokens", "Prompt tokens of a request.", _TOKENS)
        self.request_generation = self._histogram("request_generation_tokens", "Tokens a request generated.", _TOKENS)
        self.params_n = self._histogram("request_params_n", "n of a request.", _COUNTS)
        self.params_max_tokens = self._histogram("request_params_max_tokens", "max_tokens of a request.", _TOKENS)
        self.preemptions = self._histogram("request_num_preemptions", "Times a request was preempted.", (0, *_COUNTS))
        self.reload_successful = self._appliance_gauge(
            "config_last_reload_successful", "1 when the last profile was taken."
        )
        self.reload_timestamp = self._appliance_gauge(
            "config_last_reload_success_timestamp_seconds", "When the running profile was taken, in Unix seconds."
        )
        info = Gauge(
            "appliance_config_info",
            "The running profile.",
            ["profile", "hash", "revision", "generation"],
            registry=self.registry,
        )
        info.labels(config.profile_name, config.config_hash, str(config.revision), str(config.generation)).set(1)
        self.reload_successful.set(1)
        self.reload_timestamp.set_to_current_time()

    def finished(self, reason: str) -> None:
        self._success.labels(**self._labels, finished_reason=reason).inc()

    def watch(self, stats: Callable[[], Stats | None], ready: Callable[[], Ready | None], admission: Admission) -> None:
        """Reads the engine's and the queue's own numbers at each scrape."""
        self.registry.register(_EngineNumbers(self._labels, stats, ready, admission))

    def render(self) -> bytes:
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(f"vllm:{name}", text, list(self._labels), registry=self.registry).labels(**self._labels)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        labels = list(self._labels)
        return Histogram(f"vllm:{name}", text, labels, registry=self.registry, buckets=buckets).labels(**self._labels)

    def _appliance_gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"appliance_{name}", text, registry=self.registry)


class _EngineNumbers(Collector):
    def __init__(
        self,
        labels: dict[str, str],
        stats: Callable[[], Stats | None],
        ready: Callable[[], Ready | None],
        admission: Admission,
    ) -> None:
        self._labels = labels
        self._stats = stats
        self._ready = ready
        self._admission = admission

    def collect(self) -> Iterable[Metric]:
        stats, ready = self._stats(), self._ready()
        yield self._gauge("num_requests_running", "Requests in the batch.", stats.running if stats else 0)
        yield self._gauge("num_requests_waiting", "Requests that wait for a place.", stats.waiting if stats else 0)
        yield self._gauge("kv_cache_usage_perc", "Share of KV blocks held, 0 to 1.", stats.kv_usage if stats else 0)
        yield self._count("prefix_cache_queries", "Prompt tokens looked up.", stats.prefix_queries if stats else 0)
        yield self._count("prefix_cache_hits", "Prompt tokens found.", stats.prefix_hits if stats else 0)
        yield self._count("num_preemptions", "Preemptions.", stats.preemptions if stats else 0)
        yield self._steps(stats)
        for name, text, value in (
            ("engine_up", "1 while the engine serves.", 1 if ready else 0),
            ("engine_slots", "Requests that can run at once.", ready.max_sequences if ready else 0),
            ("engine_free_slots", "Places for requests that nobody has.", stats.free_slots if stats else 0),
            ("engine_blocks", "Blocks of the KV cache.", ready.num_blocks if ready else 0),
            ("engine_free_blocks", "Blocks that no request holds, cached ones too.", stats.free_blocks if stats else 0),
            ("engine_cached_blocks", "Blocks that a later prompt may find.", stats.cached_blocks if stats else 0),
            ("queue_requests", "Unfinished requests, of limits.queue.requests.", self._admission.requests),
            ("queue_tokens", "Prompt tokens not yet prefilled, of limits.queue.tokens.", self._admission.tokens),
        ):
            yield GaugeMetricFamily(f"appliance_{name}", text, value=value)
        if ready:
            facts = {
                "block_size": str(ready.block_tokens),
                "num_gpu_blocks": str(ready.num_blocks),
                "cache_dtype": ready.kv_dtype,
                "kv_tokens": str(ready.kv_tokens),
                "max_sequences": str(ready.max_sequences),
                "architecture": ready.architecture,
            }
            info = GaugeMetricFamily("vllm:cache_config_info", "The KV cache.", labels=[*self._labels, *facts])
            info.add_metric([*self._labels.values(), *facts.values()], 1)
            yield info
        rejections = CounterMetricFamily(
            "vllm:admission_rejections", "Requests refused by a queue limit.", labels=["model_name", "reason"]
        )
        for reason, count in self._admission.rejections.items():
            rejections.add_metric([self._labels["model_name"], reason], count)
        yield rejections

    def _steps(self, stats: Stats | None) -> Metric:
        sizes = stats.step_sizes if stats else [0] * (len(STEP_TOKEN_BOUNDS) + 1)
        bounds = [*(str(float(bound)) for bound in STEP_TOKEN_BOUNDS), "+Inf"]
        labels = list(self._labels)
        family = HistogramMetricFamily("vllm:iteration_tokens_total", "Tokens computed by one step.", labels=labels)
        buckets = list(zip(bounds, accumulate(sizes), strict=True))
        family.add_metric(list(self._labels.values()), buckets, stats.step_tokens if stats else 0)
        return family

    def _gauge(self, name: str, text: str, value: float) -> Metric:
        family = GaugeMetricFamily(f"vllm:{name}", text, labels=list(self._labels))
        family.add_metric(list(self._labels.values()), value)
        return family

    def _count(self, name: str, text: str, value: float) -> Metric:
        family = CounterMetricFamily(f"vllm:{name}", text, labels=list(self._labels))
        family.add_metric(list(self._labels.values()), value)
        return family
