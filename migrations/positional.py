"""The model behind `--model` where the command takes it as its first word."""

from collections.abc import Sequence

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Form, Kind, OptionSite
from appliance.migrations.change import Change, Part
from appliance.migrations.operations import MODEL_WORD, Rewrite

_FACT = "`vllm serve` takes the model as its first word; the option still works, with a warning that it will go"


def check_model_word(sites: Sequence[OptionSite], touched: frozenset[int]) -> list[Change]:
    """Written as the first word only where it is the first option: elsewhere an option in front could swallow it."""
    options = [site for site in sites if site.kind is Kind.OPTION and not site.source]
    models = [site for site in options if site.name == "model"]
    if len(models) != 1 or models[0].form not in (Form.FLAG, Form.EQUALS) or id(models[0]) in touched:
        return []
    site = models[0]
    if site.quirk is not None or not site.raw_value:
        return []
    if site is not options[0]:
        return [_told(site, Part.DECISION, Severity.NOTE, "move it to the front, without --model", ())]
    return [_told(site, Part.CHANGED, Severity.WARNING, "write the model alone", (Rewrite(site, MODEL_WORD),))]


def _told(site: OptionSite, part: Part, severity: Severity, way_out: str, operations: tuple[Rewrite, ...]) -> Change:
    return Change(part, "VM0037", severity, "--model", f"--model: {_FACT}", way_out, site, None, operations)
