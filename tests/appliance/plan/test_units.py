"""Sizes as people read them."""

import pytest

from appliance.plan.units import size


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1023 * 2**20, "1023 MiB"),
        (2912 * 16 * 23040, "1.00 GiB"),  # 1GiB in whole blocks: 1023.75 MiB
        (5.62 * 2**30, "5.62 GiB"),
        (70.1 * 2**30, "70.1 GiB"),
        (2**60, "1048576 TiB"),
    ],
)
def test_a_unit_is_never_full(count: float, text: str) -> None:
    assert size(count) == text
