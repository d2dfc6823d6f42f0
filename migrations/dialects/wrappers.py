"""Servers built around the engine: their command line holds options of their own beside the engine's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from appliance.migrations.canonical import Entrypoint, Kind, OptionSite


@dataclass(frozen=True, slots=True)
class Wrapper:
    """own: canonical names of options that the engine never sees. model: those of them that name the model.

    other: the value of `backend` with which it starts no engine. families: how the names of more of its own begin.
    """

    own: frozenset[str]
    model: tuple[str, ...] = ()
    other: str = ""
    families: tuple[str, ...] = ()

    def engine(self, sites: Iterable[OptionSite]) -> tuple[OptionSite, ...]:
        """The sites that reach the engine; none when another backend is asked for."""
        listed = tuple(sites)
        if self.other and any(site.name == "backend" and site.value == self.other for site in listed):
            return ()
        return tuple(site for site in listed if site.kind is Kind.ENV or not self._takes(site.name))

    def _takes(self, name: str) -> bool:
        positive = name.removeprefix("no-")
        return positive in self.own or positive.startswith(self.families)

    def model_of(self, sites: Sequence[OptionSite]) -> str | None:
        named = (site.value for name in self.model for site in sites if site.name == name)
        return next((value for value in named if isinstance(value, str)), None)


WRAPPERS = {
    "huggingface": Wrapper(
        frozenset(
            {"access-log-format", "backend", "configure-logging", "disable-lower-case", "disable-special-tokens"}
            | {"enable-docs-url", "enable-grpc", "enable-latency-logging", "grpc-port", "http-port"}
            | {"log-config-file", "max-asyncio-workers", "max-length", "max-log-len", "model-dir", "model-id"}
            | {"model-name", "model-revision", "predictor-host", "predictor-protocol", "predictor-use-ssl"}
            | {"predictor-request-timeout-seconds", "return-probabilities", "return-raw-logits"}
            | {"return-token-type-ids", "task", "tensor-input-names", "tokenizer-dir", "workers"}
        ),
        ("model-id", "model-dir"),
        "huggingface",
    )
}
_DYNAMO = Wrapper(
    frozenset(
        {"boundary-ratio", "cfg-parallel-size", "component", "connector", "custom-jinja-template", "default-video-fps"}
        | {"disaggregation-mode", "discovery-backend", "dump-config-to", "durable-kv-events", "embedding-worker"}
        | {"enable-cache-dit-summary", "enable-cpu-offload", "enable-layerwise-offload", "enable-local-indexer"}
        | {"enable-multimodal", "enable-rl", "endpoint", "endpoint-types", "engine-config-json", "event-plane"}
        | {"engine-request-limit", "flow-shift", "fpm-trace", "frontend-decoding", "health-check-payload"}
        | {"is-decode-worker", "is-prefill-worker", "kv-state-endpoint", "layerwise-num-gpu-layers"}
        | {"migration-limit", "mm-prompt-template", "model-express-url", "namespace", "omni", "output-modalities"}
        | {"request-plane", "response-plane", "ring-degree", "route-to-encoder", "sleep-mode-level"}
        | {"stage-configs-path", "store-kv", "ulysses-degree", "use-vllm-tokenizer", "vae-use-slicing"}
        | {"vae-use-tiling", "video-output-dir"}
    ),
    families=("benchmark-", "diffusion-cache-", "dyn-", "gms-", "media-output-", "multimodal-", "nats-", "tcp-tls-"),
)


def reaching(entrypoint: Entrypoint, sites: Iterable[OptionSite]) -> list[OptionSite]:
    """The sites that reach the engine which is started this way."""
    return list(_DYNAMO.engine(sites) if entrypoint is Entrypoint.DYNAMO else sites)


def wrapper_of(*hints: str) -> Wrapper | None:
    """By a word of its image, module or model format."""
    texts = [hint.lower() for hint in hints if "vllm" not in hint.lower()]
    return next((wrapper for word, wrapper in WRAPPERS.items() if any(word in text for text in texts)), None)
