"""Spellings that the engine misreads; a rewrite of the site in the format's correct spelling cures them."""

from collections.abc import Sequence

from appliance.diagnostics import Severity
from appliance.migrations.canonical import OptionSite, Quirk
from appliance.migrations.change import Change, Part
from appliance.migrations.operations import Operation, Remove, Rewrite

# quirk -> code, what the engine makes of it, what is written instead, severity
QUIRKS: dict[Quirk, tuple[str, str, str, Severity]] = {
    Quirk.JOINED: (
        "VM0011",
        "option and value stand in one argument, so the engine looks for an option of that whole name",
        "split it in two",
        Severity.ERROR,
    ),
    Quirk.BOOLEAN_ARGUMENT: (
        "VM0012",
        "a switch takes no value: the engine refuses `=value` and takes a separate word for the model's name",
        "write --x or --no-x",
        Severity.ERROR,
    ),
    Quirk.FALSE_DROPPED: (
        "VM0013",
        "the engine's YAML loader drops `false`, so the option keeps its default",
        "write no-x: true",
        Severity.WARNING,
    ),
    Quirk.QUOTED_BOOLEAN: (
        "VM0014",
        "a boolean in quotes is a text: Python takes it for true, and the engine's YAML loader for the model's name",
        "write it without quotes",
        Severity.ERROR,
    ),
    Quirk.NULL: (
        "VM0015",
        'null is handed to the engine as the text "None"',
        "leave the option out",
        Severity.WARNING,
    ),
    Quirk.YAML_LIST: (
        "VM0016",
        "the option takes one JSON text; a YAML list becomes several arguments and is refused",
        "write the list as a JSON text in quotes",
        Severity.ERROR,
    ),
    Quirk.NOT_INTERPOLATED: (
        "VM0017",
        "nothing fills in variables in this file: the text is taken as it stands",
        "write the value itself",
        Severity.ERROR,
    ),
    Quirk.DUPLICATE: (
        "VM0018",
        "the same key stands here again; the last one wins silently",
        "keep one",
        Severity.WARNING,
    ),
    Quirk.SERVE_WORD: (
        "VM0019",
        "`serve` is handed to an entrypoint that already serves, which takes it for the model's name",
        "remove the word where the image's entrypoint is the server",
        Severity.WARNING,
    ),
}

_LEFT_ALONE = (Quirk.NOT_INTERPOLATED, Quirk.DUPLICATE, Quirk.SERVE_WORD)


def check_quirks(sites: Sequence[OptionSite], touched: frozenset[int]) -> list[Change]:
    """One finding for each quirk; sites that are touched anyway, rewritten or removed, are cured by that."""
    found = []
    for site in sites:
        if site.quirk is None:
            continue
        code, fact, way_out, severity = QUIRKS[site.quirk]
        cure: tuple[Operation, ...] = ()
        if site.quirk not in _LEFT_ALONE and id(site) not in touched:
            cure = (Remove(site) if site.quirk is Quirk.NULL else Rewrite(site),)
        part = Part.DECISION if site.quirk in _LEFT_ALONE else Part.CHANGED
        subject = f"--{site.name}" if site.kind == "option" else site.name
        found.append(Change(part, code, severity, subject, f"{subject}: {fact}", way_out, site, None, cure))
    return found
