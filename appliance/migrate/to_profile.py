"""A deployment of any dialect as the text of a profile, with a list of what a profile cannot say."""

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from appliance.diagnostics import Diagnostic, Severity
from appliance.migrations.canonical import UNKNOWN, OptionSite
from appliance.migrations.catalogue import catalogue
from appliance.migrations.operations import Raw
from appliance.migrations.plan import settle
from appliance.migrations.release import Release
from appliance.migrations.rule import Room, Target
from appliance.migrations.settings import Leaf, Settings, value_of
from appliance.migrations.values import SECRETS, parse
from appliance.validate import validate
from appliance.validate.rules.vllm import field_for

from .fields import ANYWAY, BIND, IDLE, IMPLIED, NoFieldError, Tree, put, source_of, writers
from .finding import Outcome

NOT_SERVED = "AP0250"
_INTERPOLATED = re.compile(r"\$\{(\w+)(:-[^}]*)?\}")


@dataclass(frozen=True)
class Missing:
    """What has no equivalent, or is left to a person (`yours`), and where it stood."""

    subject: str
    why: str
    site: OptionSite | None = None
    yours: bool = False


@dataclass
class Draft:
    """A profile as it grows. used: the option that each field came from. implied: switches that a field turns on."""

    tree: Tree
    options: dict[str, Any] = field(default_factory=dict)
    used: dict[str, Leaf] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)
    implied: dict[str, Leaf] = field(default_factory=dict)
    foreign: list[Leaf] = field(default_factory=list)
    """Variables that are not the engine's."""


@dataclass(frozen=True)
class Drafted:
    """backend: native or vllm. diagnostics: what `validate` says about the text."""

    name: str
    backend: str
    text: str
    missing: tuple[Missing, ...]
    diagnostics: tuple[Diagnostic, ...]


def to_profile(outcome: Outcome, target: Release) -> Drafted:
    deployment = outcome.deployment
    settings = settle(deployment.sites, outcome.origin.release, target, deployment.model)
    name = _name(deployment.label or (deployment.model or "").rpartition("/")[2])
    native = _draft(name, target, settings, deployment.model)
    refused = _refused(native)
    if not refused and native.options.keys() <= IDLE.keys():
        return _drafted(name, "native", native)
    draft = _draft(name, target, settings, deployment.model)
    _for_vllm(draft, {path for path, code in refused.items() if code != NOT_SERVED})
    return _drafted(name, "vllm", draft)


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:63] or "migrated"


def _draft(name: str, target: Release, settings: Settings, model: str | None) -> Draft:
    draft = Draft({"schema": 1, "name": name, "release": f"{target.major}.{target.minor}", "model": {"source": ""}})
    known = writers()
    for option, leaves in sorted(_options(settings).items(), key=lambda item: item[0][1] == "VLLM_API_KEY"):
        _place(draft, option, leaves, known)
    if draft.foreign:
        names = ", ".join(leaf.name for leaf in draft.foreign)
        whose = "not the engine's: set what is still wanted where the appliance runs"
        draft.missing.append(Missing(names, whose, draft.foreign[0].site, yours=True))
    for switch, leaf in draft.implied.items():
        if not _says(draft.tree, IMPLIED[switch]):
            why = f"{IMPLIED[switch]} turns it on, and nothing is named"
            draft.missing.append(Missing(f"--{switch}", why, leaf.site))
    _model(draft, model)
    _bind(draft, settings)
    return draft


def _says(tree: Tree, path: str) -> bool:
    return path in _paths(tree)


def _options(settings: Settings) -> dict[tuple[Room, str], list[Leaf]]:
    found: dict[tuple[Room, str], list[Leaf]] = {}
    for leaf in settings.leaves:
        found.setdefault((leaf.room, leaf.name), []).append(leaf)
    return found


def _place(draft: Draft, option: tuple[Room, str], leaves: list[Leaf], known: dict[str, Any]) -> None:
    room, name = option
    subject, site = str(Target(room, name)), leaves[0].site
    if name in BIND:
        return
    if name in ANYWAY:
        draft.missing.append(Missing(subject, ANYWAY[name], site, yours=room is Room.ENV))
        return
    if room is Room.ENV and name not in catalogue().env and name not in known:
        draft.foreign.append(leaves[0])
        return
    if name in IMPLIED:
        draft.implied |= {name: leaves[0]} if leaves[0].value is True else {}
        return
    value = value_of(leaves, 0)
    secret = name in ("api-key", "VLLM_API_KEY")
    if (value is UNKNOWN or isinstance(value, Raw)) and not secret:
        value = _later(leaves)
    if (
        isinstance(value, str)
        and room is Room.OPTION
        and name in catalogue().options
        and not _INTERPOLATED.search(value)
    ):
        value = parse(value, catalogue().options[name].nearest(len(catalogue().releases) - 1))
    if value is None and (name == "model" or site.value is None):
        return
    if value is None:
        draft.missing.append(Missing(subject, f"is filled in later ({site.raw_value}); write its value", site, True))
        return
    if name in SECRETS and not secret:
        draft.missing.append(Missing(subject, "a secret: put it into the environment", site, True))
        return
    if name not in known:
        _without_field(draft, room, name, value, site)
        return
    paths = set(_paths(draft.tree))
    try:
        known[name](draft.tree, value)
    except NoFieldError as reason:
        _without_field(draft, room, name, value, site, str(reason))
        return
    draft.used |= {path: leaves[0] for path in _paths(draft.tree) if path not in paths}
    if secret and name == "api-key":
        why = "put the key into the environment variable APPLIANCE_API_KEY"
        draft.missing.append(Missing(subject, why, site, True))


def _later(leaves: list[Leaf]) -> str | None:
    """`${VAR}` means the same in a profile; other templates do not."""
    text = leaves[0].site.raw_value or ""
    rest = _INTERPOLATED.sub("", text)
    return text if len(leaves) == 1 and not set(rest) & set("${%`<") else None


def _without_field(
    draft: Draft, room: Room, name: str, value: Any, site: OptionSite, why: str = "a profile has no field for it"
) -> None:
    if room is Room.OPTION:
        draft.options[name] = _option(value)
        why = IDLE.get(name, why)
    draft.missing.append(Missing(str(Target(room, name)), why, site))


def _option(value: Any) -> Any:
    """As `engine.vllm.options` holds it: a mapping is the JSON text of a command line."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def _paths(tree: Tree, above: str = "") -> list[str]:
    found = []
    for key, value in tree.items():
        path = f"{above}{key}"
        found += _paths(value, f"{path}.") if isinstance(value, dict) else [path]
    return found


def _model(draft: Draft, model: str | None) -> None:
    if draft.tree["model"]["source"]:
        return
    if model:
        draft.tree["model"]["source"] = source_of(model)
        return
    draft.tree["model"]["source"] = "hf:organisation/name"
    draft.missing.append(Missing("model", "the file does not name it; write it into model.source", None, True))


def _bind(draft: Draft, settings: Settings) -> None:
    """The engine listens on every address unless it is told otherwise; a profile on none but this machine's."""
    said = {leaf.name: leaf for leaf in settings.leaves if leaf.name in BIND and leaf.room is Room.OPTION}
    host = said["host"].value if "host" in said else "0.0.0.0"
    port = said["port"].value if "port" in said else 8000
    parts = []
    for name, value in (("host", host), ("port", port)):
        known = _later([said[name]]) if name in said and not isinstance(value, str | int) else str(value)
        if known is None:
            draft.missing.append(
                Missing(f"--{name}", "is filled in later; write it into security.bind", said[name].site, True)
            )
            return
        parts.append(f"[{known}]" if ":" in known and name == "host" and "$" not in known else known)
    put(draft.tree, "security.bind", ":".join(parts))


def _refused(draft: Draft) -> dict[str, str]:
    """Fields that `validate` refuses, with the code."""
    return {found.path: found.code for found in _findings(_text(draft, "native")) if found.severity is Severity.ERROR}


def _for_vllm(draft: Draft, wrong: set[str]) -> None:
    """Values that no field takes go below engine.vllm.options, with the options that have none."""
    for path in wrong:
        leaf = next((leaf for used, leaf in draft.used.items() if used == path or path.startswith(f"{used}[")), None)
        if leaf is not None and field_for(leaf.name, leaf.value) is None:
            draft.options[leaf.name] = _option(leaf.value)
            _remove(draft.tree, path.partition("[")[0])
    draft.options |= {
        switch: True
        for switch in draft.implied
        if not _says(draft.tree, IMPLIED[switch]) and field_for(switch, True) is None
    }
    draft.missing = [one for one in draft.missing if one.subject.removeprefix("--") not in draft.options]
    engine = draft.tree.setdefault("engine", {})
    engine["backend"] = "vllm"
    if draft.options:
        engine["vllm"] = {"options": draft.options}


def _remove(tree: Tree, path: str) -> None:
    *above, last = path.split(".")
    for step in above:
        tree = tree.get(step, {})
    tree.pop(last, None)


def _drafted(name: str, backend: str, draft: Draft) -> Drafted:
    text = _text(draft, backend)
    return Drafted(name, backend, text, tuple(draft.missing), tuple(_findings(text)))


def _text(draft: Draft, backend: str) -> str:
    lines = []
    if backend == "vllm":
        named = [f"--{name}" for name in draft.options if name not in IDLE]
        needed = f"{', '.join(named)} need{'s' * (len(named) == 1)}" if named else "something here needs"
        lines += [f"# {needed} vLLM itself, so `backend: vllm` runs it; `vllm` has to be installed beside."]
    lines += [f"# {'Yours' if one.yours else 'No equivalent'}: {one.subject}: {one.why}" for one in draft.missing]
    order = ("schema", "name", "release", "model")
    tree = {key: draft.tree[key] for key in order} | {k: v for k, v in draft.tree.items() if k not in order and v}
    body = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=100)
    return "\n".join([*(line.replace("\n", " ") for line in lines), body])


def _findings(text: str) -> list[Diagnostic]:
    variables = {found[1]: "x" for found in _INTERPOLATED.finditer(text) if not found[2]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "profile.yaml")
        path.write_text(text, encoding="utf-8")
        return list(validate(path, offline=True, environ=variables).diagnostics)
