"""Flags, aliases and negations that the target release does not have, although it has the option."""

from collections.abc import Sequence

from appliance.diagnostics import Severity
from appliance.migrations.argv import OPTIMIZE
from appliance.migrations.canonical import Form, OptionSite
from appliance.migrations.catalogue import Catalogue, Facts
from appliance.migrations.change import Change, Part
from appliance.migrations.operations import Operation, Remove, Rewrite
from appliance.migrations.release import Release

_WRITTEN = (Form.FLAG, Form.EQUALS, Form.NEGATION, Form.SHORT)


def check_spellings(
    book: Catalogue, sites: Sequence[OptionSite], touched: frozenset[int], target: Release
) -> list[Change]:
    """Rewrites the site in the spelling of the target; sites that are touched anyway need nothing."""
    index = book.index(target)
    found = []
    for site in sites:
        entry = book.options.get(site.name)
        facts = entry.at(index) if entry and site.form in _WRITTEN else None
        if facts is None or id(site) in touched or site.quirk is not None or site.name == OPTIMIZE:
            continue
        flag = _flag(site)
        if flag in (f"--{site.name}", *facts.flags, *facts.negations):
            continue
        found.append(_change(site, flag, facts, target))
    return found


def _flag(site: OptionSite) -> str:
    head = site.raw_name.split(".")[0]
    return "--" + head[2:].replace("_", "-") if head.startswith("--") else head


def _change(site: OptionSite, flag: str, facts: Facts, target: Release) -> Change:
    message = f"{flag}: {target.short} does not know this spelling of --{site.name}"
    if site.value is False and not facts.negations:
        if facts.default is False:
            return _told(
                Part.CHANGED, site, flag, f"{message}; the switch is off by default", "leave it out", Remove(site)
            )
        return _told(Part.DECISION, site, flag, f"{message}, nor any other that switches it off", "leave it out", None)
    return _told(Part.CHANGED, site, flag, message, "write one that it has", Rewrite(site))


def _told(part: Part, site: OptionSite, flag: str, message: str, way_out: str, operation: Operation | None) -> Change:
    operations = (operation,) if operation else ()
    return Change(part, "VM0020", Severity.ERROR, flag, message, way_out, site, None, operations)
