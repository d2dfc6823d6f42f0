"""vLLM's own numbers and ours under one address: each family once, each replica with its `engine`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

if TYPE_CHECKING:
    from appliance.server.proxy.upstream import Upstream

KEPT = "vllm:"
"""Of a replica's numbers; those of its interpreter and web framework stay with it."""


def merged(ours: str, replicas: Sequence[str]) -> bytes:
    families: dict[str, Metric] = {}
    for family in text_string_to_metric_families(ours):
        families[family.name] = family
    for index, text in enumerate(replicas):
        for family in text_string_to_metric_families(text):
            if family.name.startswith(KEPT):
                known = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                known.samples += [_labelled(sample, index, len(replicas)) for sample in family.samples]
    registry = CollectorRegistry()
    registry.register(_Given([family for family in families.values() if family.samples]))
    return generate_latest(registry)


def own_numbers(members: "Sequence[Upstream]") -> str:
    up = GaugeMetricFamily("appliance_engine_up", "1 while the engine serves.", labels=["engine"])
    running = GaugeMetricFamily("appliance_engine_requests", "This server's requests on it.", labels=["engine"])
    for index, member in enumerate(members):
        up.add_metric([str(index)], float(member.up))
        running.add_metric([str(index)], len(member.running))
    registry = CollectorRegistry()
    registry.register(_Given([up, running]))
    return generate_latest(registry).decode()


def _labelled(sample: Sample, index: int, count: int) -> Sample:
    """vLLM numbers its engines from 0 in each process."""
    own = sample.labels.get("engine", "0")
    engine = own if count == 1 else str(index) if own == "0" else f"{index}.{own}"
    return sample._replace(labels={**sample.labels, "engine": engine})


class _Given(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families
