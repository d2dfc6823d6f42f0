"""Every rule, oldest release first; one module for each release that broke something."""

from importlib import import_module

from appliance.migrations.rule import Rule

MODULES = ("r0_08",)

RULES: tuple[Rule, ...] = tuple(rule for name in MODULES for rule in import_module(f"{__name__}.{name}").RULES)
BY_CODE: dict[str, Rule] = {rule.code: rule for rule in RULES}
