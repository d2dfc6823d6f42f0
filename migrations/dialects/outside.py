"""Variables that a deployment takes from files beside its own: read, reported, and never edited from here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath

from yaml.nodes import MappingNode, ScalarNode

from appliance.migrations.canonical import UNKNOWN, Elsewhere, Form, Kind, OptionSite, Span, Value
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.env_lines import settings
from appliance.migrations.dialects.layers import FileLayer
from appliance.migrations.dialects.serving import engine_variable
from appliance.migrations.dialects.yaml_tree import entries, get, text_of, tree_of
from appliance.migrations.values import templated

_LIMIT = 1 << 20
_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class Outside:
    """The handle of a site in another file: somebody else edits it."""

    borrowed: bool = True


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable of another file. value: None where it cannot be known. line: from 1."""

    name: str
    value: str | None
    line: int


@dataclass(frozen=True)
class Variables:
    """What one file or object brings."""

    place: Elsewhere
    settings: tuple[Setting, ...] = ()

    def sites(self) -> Iterator[OptionSite]:
        """The engine's variables, as sites of the place that names the file."""
        for setting in self.settings:
            if engine_variable(setting.name):
                yield _site(self.place, setting)

    @property
    def values(self) -> dict[str, str]:
        return {setting.name: setting.value for setting in self.settings if setting.value is not None}


@dataclass
class Around:
    """Files of variables in the order in which they count: a later one wins. unseen: where single values stand."""

    unseen: Sequence[Elsewhere] = ()
    found: list[Variables] = field(default_factory=list)

    def sites(self, names: Iterable[str] = ()) -> list[OptionSite]:
        """names: variables set nearer by, which win over all of these."""
        near = set(names)
        kept = {site.name: site for variables in self.found for site in variables.sites()}
        return [site for name, site in kept.items() if name not in near]

    @property
    def values(self) -> dict[str, str]:
        return {name: value for variables in self.found for name, value in variables.values.items()}

    @property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        return tuple(dict.fromkeys([*(variables.place for variables in self.found), *self.unseen]))


def env_file(path: str, written: str, kind: str, place: Span, beside: bool = False) -> Variables:
    """The file that `written` names in the file at `path`. beside: a copy next to that file counts first."""
    unread = Variables(Elsewhere(kind, written, place, False))
    if not path or not written or templated(written) or "%" in written:
        return unread
    folder = Path(path).parent
    candidates = [folder / PurePath(written).name] if beside else []
    for file in (*candidates, folder / written):
        text = _text(file)
        if text is not None:
            found = tuple(Setting(*setting) for setting in settings(text))
            shown = written if file == folder / written else file.name
            return Variables(Elsewhere(kind, shown, place, True), found)
    return unread


def configured(path: str, kind: str, name: str, place: Span) -> Variables:
    """A ConfigMap or Secret of the folder that the file at `path` lies in."""
    found = _objects(str(Path(path).parent.resolve())).get((kind, name)) if path else None
    if found is None:
        return Variables(Elsewhere(kind, name, place, False, file=False))
    file, said = found
    return Variables(Elsewhere(kind, f"{name} ({file})", place, True, file=False), said)


def _site(place: Elsewhere, setting: Setting) -> OptionSite:
    value: Value = UNKNOWN if setting.value is None or templated(setting.value) else setting.value
    name = place.name.rpartition(" (")[2].rstrip(")")
    return OptionSite(
        setting.name,
        value,
        Form.ENV,
        place.span,
        place.span,
        Kind.ENV,
        raw_name=setting.name,
        raw_value=setting.value,
        handle=Outside(),
        source=f"{name}:{setting.line}",
    )


def _text(file: Path) -> str | None:
    try:
        if file.is_file() and file.stat().st_size <= _LIMIT:
            return file.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    return None


@lru_cache(maxsize=64)
def _objects(folder: str) -> Mapping[tuple[str, str], tuple[str, tuple[Setting, ...]]]:
    """The ConfigMaps and Secrets in a folder's YAML files; looked at once in the life of a command."""
    found: dict[tuple[str, str], tuple[str, tuple[Setting, ...]]] = {}
    try:
        files = sorted(file for file in Path(folder).iterdir() if file.suffix in (".yaml", ".yml"))[:_MOST_FILES]
    except OSError:
        return found
    for file in files:
        text = _text(file)
        if text is None or ("ConfigMap" not in text and "Secret" not in text):
            continue
        try:
            roots = tree_of(FileLayer(text)).roots
        except DialectError:
            continue
        for root in roots:
            kind, name = text_of(get(root, "kind")), text_of(get(root, "metadata", "name"))
            if kind in ("ConfigMap", "Secret") and isinstance(root, MappingNode):
                found.setdefault((kind, name), (file.name, tuple(_data(root, kind))))
    return found


def _data(root: MappingNode, kind: str) -> Iterator[Setting]:
    for section in ("data", "stringData"):
        encoded = kind == "Secret" and section == "data"
        for key, value in entries(get(root, section)):
            if isinstance(value, ScalarNode):
                yield Setting(key.value, None if encoded else value.value, key.start_mark.line + 1)
