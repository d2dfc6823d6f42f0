"""Every rule, oldest release first; one module for each release that broke something."""

from importlib import import_module

from appliance.migrations.rule import Rule

MODULES = (
    "r0_05",
    "r0_08",
    "r0_09",
    "r0_10_0",
    "r0_10_2",
    "r0_11_0",
    "r0_11_1",
    "r0_12",
    "r0_13",
    "r0_14",
    "r0_15",
    "r0_16",
    "r0_17",
    "r0_18",
    "r0_19",
    "r0_20",
    "r0_21",
    "r0_22",
    "r0_23",
    "r0_24",
    "r0_26",
    "r0_27",
    "r0_28",
    "r0_29",
    "r0_30",
    "r0_31",
    "r0_32",
    "r0_33",
)

RULES: tuple[Rule, ...] = tuple(rule for name in MODULES for rule in import_module(f"{__name__}.{name}").RULES)
BY_CODE: dict[str, Rule] = {rule.code: rule for rule in RULES}
