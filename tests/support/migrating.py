"""From one release to another: texts in, texts and findings out."""

from appliance.migrations.change import Change, Part
from appliance.migrations.example import read_example, rewrite
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import release


def migrate(text: str, start: str | None, target: str, model: str | None = None) -> tuple[str, list[Change]]:
    example = read_example(text)
    changes = plan_changes(example.sites, release(start) if start else None, release(target), model)
    return rewrite(example, changes), changes


def codes(changes: list[Change], part: Part | None = None) -> list[str]:
    return [change.code for change in changes if part is None or change.part is part]
