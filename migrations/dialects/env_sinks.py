"""Environment variables in YAML: a mapping, a list of NAME=value, a list of {name, value}."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import UNKNOWN, Edit, Form, Kind, OptionSite, Value
from appliance.migrations.dialects.inside import rename_key
from appliance.migrations.dialects.layers import Layer, cut, part, replaced, span
from appliance.migrations.dialects.wishes import Handle, Wish, written
from appliance.migrations.dialects.yaml_edit import Changes, Member, element, members
from appliance.migrations.dialects.yaml_scalar import content, decode, plain_value, safe_plain, write_scalar
from appliance.migrations.dialects.yaml_tree import get
from appliance.migrations.dialects.yaml_write import remark_member
from appliance.migrations.operations import Add, CannotEditError, NewValue, Operation, Raw, Rewrite
from appliance.migrations.values import templated, to_text


def _site(layer: Layer, member: Member, name: Node, value: Node | None, handle: Handle) -> OptionSite | None:
    if value is not None and not isinstance(value, ScalarNode):
        return None
    named, inlay = decode(layer, name), decode(layer, value) if value is not None else None
    if named is None or not named.text or templated(named.text):
        return None
    if inlay is not None and isinstance(value, ScalarNode) and not value.style and plain_value(inlay.text) is None:
        inlay = None
    text = inlay.text if inlay else None
    known: Value = UNKNOWN if text is None or templated(text) else text
    return OptionSite(
        named.text,
        known,
        Form.ENV,
        span(named, 0, len(named.text)),
        cut(layer, *element(layer, member)),
        Kind.ENV,
        raw_name=named.text,
        raw_value=text,
        value_span=span(inlay, 0, len(inlay.text)) if inlay else None,
        handle=handle,
    )


def _text(value: NewValue, operation: Operation) -> str:
    if isinstance(value, Raw):
        if not value.text:
            raise CannotEditError(operation, "its value comes from somewhere else")
        return value.text
    return ("1" if value else "0") if isinstance(value, bool) else to_text(value)


def set_text(layer: Layer, node: Node, text: str, flow: bool) -> list[Edit]:
    """A scalar that says the text as a text."""
    inlay = decode(layer, node)
    if inlay is None or not isinstance(node, ScalarNode):
        return []
    if node.start_mark.index == node.end_mark.index:
        quoted = write_scalar(text, '"', flow)
        return [layer.edit(node.end_mark.index, node.end_mark.index, f" {quoted}")]
    if inlay.text == text or node.style or safe_plain(text, flow):
        return replaced(inlay, 0, len(inlay.text), text)
    start = content(layer, node)
    return [layer.edit(start, node.end_mark.index, write_scalar(text, '"', flow))]


@dataclass(eq=False)
class _Variables(ABC):
    """Variables that are members of one collection; each shape says how one is read, written anew and added."""

    layer: Layer
    node: MappingNode | SequenceNode

    @abstractmethod
    def site(self, member: Member, handle: Handle) -> OptionSite | None: ...

    @abstractmethod
    def rewrite(self, wish: Wish, rewrite: Rewrite, member: Member) -> list[Edit]: ...

    @abstractmethod
    def entry(self, add: Add) -> str: ...

    def sites(self, borrowed: bool = False) -> list[OptionSite]:
        made = (self.site(member, Handle(self, member, borrowed)) for member in members(self.node))
        return [site for site in made if site is not None]

    def edits(self, wishes: Sequence[Wish], adds: Sequence[Add]) -> list[Edit]:
        changes = Changes(self.layer, self.node)
        found: list[Edit] = []
        for wish in wishes:
            member: Member = wish.place
            for comment in wish.comments:
                found += remark_member(self.layer, self.node, member.first, comment.text)
            if wish.removed:
                changes.gone.add(member.index)
            elif wish.rewrite:
                found += self.rewrite(wish, wish.rewrite, member)
            for add in wish.adds:
                changes.new.setdefault(member.index, []).append(self.entry(add))
        for add in adds:
            changes.new.setdefault(len(self.node.value) - 1, []).append(self.entry(add))
        return [*found, *changes.edits()]

    @property
    def flow(self) -> bool:
        return bool(self.node.flow_style)


class EnvMap(_Variables):
    """`NAME: value`, merge keys included."""

    def site(self, member: Member, handle: Handle) -> OptionSite | None:
        if not isinstance(member.first, ScalarNode) or member.first.value == "<<":
            return None
        return _site(self.layer, member, member.first, member.last, handle)

    def rewrite(self, wish: Wish, rewrite: Rewrite, member: Member) -> list[Edit]:
        name, _, value = written(wish.site, rewrite)
        found = rename_key(self.layer, member.first, name)
        if value != wish.site.value and not (isinstance(value, Raw) and wish.site.value is UNKNOWN):
            found += set_text(self.layer, member.last, _text(value, rewrite), self.flow)
        return found

    def entry(self, add: Add) -> str:
        values = [item[1] for item in self.node.value if isinstance(item[1], ScalarNode)]
        style = values[0].style if values else '"'
        return f"{add.name}: {write_scalar(_text(add.value, add), style, self.flow)}"


class EnvList(_Variables):
    """`- NAME=value`; `- NAME` takes the value from outside."""

    def site(self, member: Member, handle: Handle) -> OptionSite | None:
        inlay = decode(self.layer, member.first)
        if inlay is None:
            return None
        name, equals, value = inlay.text.partition("=")
        size = len(name)
        if not name or templated(name):
            return None
        return OptionSite(
            name,
            UNKNOWN if not equals or templated(value) else value,
            Form.ENV,
            span(inlay, 0, size),
            cut(self.layer, *element(self.layer, member)),
            Kind.ENV,
            raw_name=name,
            raw_value=value if equals else None,
            value_span=span(inlay, size + 1, len(inlay.text)) if equals else None,
            handle=handle,
        )

    def rewrite(self, wish: Wish, rewrite: Rewrite, member: Member) -> list[Edit]:
        name, _, value = written(wish.site, rewrite)
        inlay = decode(self.layer, member.first)
        if inlay is None:
            raise CannotEditError(rewrite, "the item cannot be followed")
        if wish.site.value is UNKNOWN and isinstance(value, Raw):
            return replaced(part(inlay, 0, len(wish.site.raw_name)), 0, len(wish.site.raw_name), name)
        return set_text(self.layer, member.first, f"{name}={_text(value, rewrite)}", self.flow)

    def entry(self, add: Add) -> str:
        style = self.node.value[0].style if self.node.value and isinstance(self.node.value[0], ScalarNode) else None
        return write_scalar(f"{add.name}={_text(add.value, add)}", style, self.flow)


class EnvPairs(_Variables):
    """`- name: NAME` with `value:` or `valueFrom:`, as Kubernetes has it."""

    def site(self, member: Member, handle: Handle) -> OptionSite | None:
        name = get(member.first, "name")
        return _site(self.layer, member, name, get(member.first, "value"), handle) if name is not None else None

    def rewrite(self, wish: Wish, rewrite: Rewrite, member: Member) -> list[Edit]:
        name, _, value = written(wish.site, rewrite)
        key, old = get(member.first, "name"), get(member.first, "value")
        if old is None and value != wish.site.value and not isinstance(value, Raw):
            raise CannotEditError(rewrite, "its value comes from somewhere else")
        found = rename_key(self.layer, key, name) if key is not None else []
        if old is not None and value != wish.site.value and not isinstance(value, Raw):
            flow = bool(getattr(member.first, "flow_style", False))
            found += set_text(self.layer, old, _text(value, rewrite), flow)
        return found

    def entry(self, add: Add) -> str:
        value = write_scalar(_text(add.value, add), '"')
        value = value if value[0] in "'\"" else f'"{value}"'
        if self.flow:
            return f"{{name: {add.name}, value: {value}}}"
        return f"name: {add.name}\nvalue: {value}"


def env_sink(layer: Layer, node: Node | None) -> EnvMap | EnvList | EnvPairs | None:
    """What the node is, by its shape."""
    if isinstance(node, MappingNode):
        return EnvMap(layer, node)
    if isinstance(node, SequenceNode):
        pairs = any(isinstance(item, MappingNode) for item in node.value)
        return EnvPairs(layer, node) if pairs else EnvList(layer, node)
    return None
