"""Command lines for vLLM's own parser: out of the sites of a file, and with every option that an old release had."""

import json
from typing import Any

from appliance.migrations.argv import write_words
from appliance.migrations.canonical import UNKNOWN, Deployment, Form, Kind, OptionSite
from appliance.migrations.catalogue import Entry, Facts, catalogue
from appliance.migrations.values import templated

BOOK = catalogue()
NEWEST = BOOK.index(next(release for release in BOOK.releases if release[:2] == (0, 32)))


# where the catalogue's type is wider than what later releases take
SAMPLES: dict[str, Any] = {
    "guided-decoding-backend": "guidance",
    "backend": "guidance",
    "activation": True,
    "softmax": True,
}


def argv_of(deployment: Deployment) -> list[str]:
    """As the engine gets it; what is filled in later has some value of its type, and `--config` names another file."""
    words: list[str] = []
    model: list[str] = []
    for site in deployment.sites:
        if site.kind is Kind.ENV or site.name == "config":
            continue
        if site.form is Form.POSITIONAL:
            model = [str(site.value) if site.value is not UNKNOWN else "model"]
        else:
            words += _words(site)
    return [*model, *words]


def _words(site: OptionSite) -> list[str]:
    if site.form in (Form.YAML_KEY, Form.JSON_KEY, Form.KEYWORD):
        return write_words(site.name, _known(site), site.path)
    if site.raw_value is None:
        return [site.raw_name]
    if isinstance(site.value, list) and not site.raw_value.startswith("["):
        return [site.raw_name, *(item if isinstance(item, str) else json.dumps(item) for item in site.value)]
    raw = _text(_known(site)) if site.value is UNKNOWN or templated(site.raw_value) else site.raw_value
    if site.form is Form.EQUALS:
        return [f"{site.raw_name}={raw}"]
    return [f"{site.raw_name}{raw}"] if site.raw_name == "-O" else [site.raw_name, raw]


def _known(site: OptionSite) -> Any:
    if site.value is not UNKNOWN:
        return site.value
    key = BOOK.key(site.name, site.path, NEWEST) if site.path else BOOK.options.get(site.name)
    return some_value(key.nearest(NEWEST)) if isinstance(key, Entry) else "x"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def some_value(facts: Facts) -> Any:
    """Any value that the option takes."""
    if facts.values:
        return facts.values[0]
    least = (facts.bounds or {}).get("ge", (facts.bounds or {}).get("gt", 0))
    kinds = {"bool": True, "int": int(least) + 1, "float": 0.5, "json": {}, "json-or-str": {}, "list": [1]}
    return kinds.get(facts.type, "x")


def old_line(index: int) -> list[str]:
    """Words of a command line with every option and nested key of a release that 0.32 does not have."""
    words = ["some/model"]
    for name, entry in BOOK.options.items():
        if not entry.exists(index):
            continue
        nested = _gone_keys(name, index)
        if nested and entry.exists(NEWEST):
            words += [f"--{name}", json.dumps(nested)]
        elif not entry.exists(NEWEST):
            words += write_words(name, SAMPLES.get(name, some_value(entry.nearest(index))))
    return words


def _gone_keys(name: str, index: int) -> dict[str, Any]:
    owner = BOOK.class_of(name, index)
    return _gone(owner, index, ()) if owner in BOOK.classes else {}


def _gone(owner: str | None, index: int, above: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, entry in BOOK.classes.get(owner or "", {}).items():
        if not entry.exists(index) or owner in above:
            continue
        facts = entry.nearest(index)
        if not entry.exists(NEWEST):
            found[key] = SAMPLES.get(key, some_value(facts))
        elif facts.of and (inner := _gone(facts.of, index, (*above, owner or ""))):
            found[key] = inner
    return found
