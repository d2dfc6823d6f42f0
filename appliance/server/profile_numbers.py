"""The running profile and its reloads on /metrics, as the supervisor told them."""

import time
from collections.abc import Iterable
from typing import get_args

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from appliance.server.config import ReloadFacts, ServerConfig, Sync


class ProfileNumbers(Collector):
    """`switched` before the first scrape."""

    facts: ReloadFacts
    _config: ServerConfig
    _since: float

    def switched(self, config: ServerConfig) -> None:
        """This configuration serves from now on."""
        self._config = config
        self._since = time.time()
        self.facts = config.reload

    def collect(self) -> Iterable[Metric]:
        config, facts = self._config, self.facts
        yield GaugeMetricFamily(
            "appliance_config_last_reload_successful",
            "1 when the last profile was taken.",
            value=float(facts.last_successful),
        )
        yield GaugeMetricFamily(
            "appliance_config_last_reload_success_timestamp_seconds",
            "When the running profile was taken, in Unix seconds.",
            value=facts.last_success_time or self._since,
        )
        yield _states("appliance_config_sync", "1 for how what runs relates to the text that is kept.", facts.sync)
        if facts.git is not None:
            yield _states("appliance_gitops_state", "1 for how what runs relates to the repository.", facts.git)
        labels = {
            "profile": config.profile_name,
            "hash": config.config_hash,
            "revision": str(config.revision),
            "generation": str(config.generation),
        }
        info = GaugeMetricFamily("appliance_config_info", "The running profile.", labels=tuple(labels))
        info.add_metric(tuple(labels.values()), 1)
        yield info


def _states(name: str, words: str, now: Sync) -> Metric:
    found = GaugeMetricFamily(name, words, labels=["state"])
    for state in get_args(Sync):
        found.add_metric([state], float(state == now))
    return found
