"""Profiles of older releases: fields are read as the options they render to, and follow the same rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from yaml.nodes import MappingNode

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment, Edit, Entrypoint, Form, OptionSite, ReleaseHint, Span
from appliance.migrations.change import Change, Part
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.inside import set_value
from appliance.migrations.dialects.layers import Layer, cut, span
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys
from appliance.migrations.dialects.serving import model_of
from appliance.migrations.dialects.wishes import Handle, Homes, Wish, edits_of
from appliance.migrations.dialects.yaml_edit import Member, element, end_of, members
from appliance.migrations.dialects.yaml_scalar import decode, value_of
from appliance.migrations.dialects.yaml_tree import file_tree, get
from appliance.migrations.operations import Add, CannotEditError, NewValue, Operation, Rewrite
from appliance.migrations.release import Release
from appliance.profile.fields import all_fields

_OPTIONS = ("engine", "vllm", "options")


@dataclass(eq=False)
class FieldKeys(OptionKeys):
    """The fields of one section. above: its dotted path."""

    above: str = ""

    def _site(self, member: Member, handle: Handle) -> OptionSite | None:
        key = decode(self.layer, member.first)
        field = all_fields().get(f"{self.above}{key.text}") if key else None
        return self.site(member, handle, field.option) if field and field.option else None

    def site(self, member: Member, handle: Handle, name: str) -> OptionSite | None:
        """The field as a site of that option."""
        key, inlay = decode(self.layer, member.first), decode(self.layer, member.last)
        if key is None:
            return None
        start, end = member.last.start_mark.index, end_of(self.layer, member.last)
        return OptionSite(
            name,
            value_of(self.layer, member.last),
            Form.YAML_KEY,
            span(key, 0, len(key.text)),
            cut(self.layer, *element(self.layer, member)),
            raw_name=key.text,
            raw_value=inlay.text if inlay else self.layer.text[start:end],
            value_span=span(inlay, 0, len(inlay.text)) if inlay else Span(*self.layer.bounds(start, end)),
            handle=handle,
        )

    def _rewrite(self, wish: Wish, rewrite: Rewrite, member: Member, name: str, value: NewValue) -> list[Edit]:
        if name != wish.site.name:
            raise CannotEditError(rewrite, f"no field renders to --{name}")
        return set_value(self.layer, self.node, member.last, value, rewrite)

    def _add(self, add: Add, *rest: object) -> None:
        raise CannotEditError(add, f"no field takes --{add.name} here")


@dataclass(frozen=True, slots=True)
class ProfileHomes(Homes):
    release: OptionSite | None = None


class _Profiles:
    name = "profile"

    def detect(self, path: str, text: str) -> float:
        return 1.0

    def read(self, path: str, text: str) -> list[Deployment]:
        try:
            tree = file_tree(text)
        except RecursionError:
            raise DialectError(0, "nested too deeply to be followed") from None
        return [_deployment(tree.layer, root) for root in tree.roots if isinstance(root, MappingNode)]

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        return edits_of(deployment, operations)


def _deployment(layer: Layer, root: MappingNode) -> Deployment:
    sites: list[OptionSite] = []
    _fields(layer, root, "", sites)
    options = get(root, *_OPTIONS)
    sink = OptionKeys(layer, options, Flavor.KEYWORDS) if isinstance(options, MappingNode) else None
    listed = sink.sites() if sink else []
    release = _release(layer, root)
    text = release.raw_value if release else None
    known = Release.parse(text) if text else None
    hint = ReleaseHint(text or "", known, release.value_span or release.name_span, "release") if release else None
    homes = ProfileHomes(sink, release=release)
    name = decode(layer, found) if (found := get(root, "name")) is not None else None
    return Deployment(
        (*sites, *listed),
        Entrypoint.PROFILE,
        name.text if name else "",
        model_of(sites),
        hint,
        takes_options=sink is not None,
        takes_env=False,
        handle=homes,
    )


def _fields(layer: Layer, node: MappingNode, above: str, found: list[OptionSite]) -> None:
    found += FieldKeys(layer, node, Flavor.KEYWORDS, above=above).sites()
    for member in members(node):
        key = decode(layer, member.first)
        path = f"{above}{key.text}" if key else ""
        if isinstance(member.last, MappingNode) and path in all_fields() and path != ".".join(_OPTIONS):
            _fields(layer, member.last, f"{path}.", found)


def _release(layer: Layer, root: MappingNode) -> OptionSite | None:
    keys = FieldKeys(layer, root, Flavor.KEYWORDS)
    for member in members(root):
        key = decode(layer, member.first)
        if key is not None and key.text == "release":
            return keys.site(member, Handle(keys, member), "release")
    return None


def adapted(changes: Sequence[Change], deployment: Deployment, target: Release) -> list[Change]:
    """Rules only, where a field is meant: its own values and security are `validate`'s; and the release key itself."""
    found = [change for change in changes if change.rule is not None or _is_option(change)]
    site = deployment.handle.release
    wanted = f"{target.major}.{target.minor}"
    if site is not None and Release.parse(str(site.raw_value)) != target:
        message = f"release: the text is written for {wanted} now"
        step = Rewrite(site, value=wanted)
        found.append(Change(Part.CHANGED, "VM0109", Severity.ERROR, "release", message, "", site, None, (step,)))
    return found


def _is_option(change: Change) -> bool:
    return change.site is not None and not isinstance(change.site.handle.sink, FieldKeys)


dialect = _Profiles()
