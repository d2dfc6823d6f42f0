"""`appliance explain OPTION` for options of releases older than the catalogue, and for keys named alone."""

from collections.abc import Callable
from typing import Any

import pytest

from appliance.migrations.releases import RULES
from appliance.migrations.rule import Room

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("speculative_model", "VM0811 since 0.8.4, moved"),
        ("--engine-use-ray", "VM0801 since 0.6.3"),
        ("disable_by_batch_size", "VM1704 since 0.17.1"),
        ("VLLM_INSTANCE_ID", "VM0702 since 0.7.3"),
        ("disable-log-requests", "-> --enable-log-requests"),
    ],
)
def test_history(run: Run, topic: str, said: str) -> None:
    ran = run("explain", topic)
    assert ran.code == 0 and said in " ".join(ran.out.split())


def test_every_option_that_a_rule_is_about_has_a_history(run: Run) -> None:
    names = {rule.target.name for rule in RULES if rule.target.room in (Room.OPTION, Room.ENV) and not rule.target.path}
    unknown = [name for name in sorted(names - {"O"}) if run("explain", name).code]
    assert unknown == []
