"""Environment variables in YAML: a mapping, a list of NAME=value, a list of {name, value}."""

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
from appliance.migrations.operations import Add, CannotEditError, NewValue, Operation, Raw
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
class EnvMap:
    """`NAME: value`, merge keys included."""

    layer: Layer
    node: MappingNode

    def sites(self, borrowed: bool = False) -> list[OptionSite]:
        found = []
        for member in members(self.node):
            if isinstance(member.first, ScalarNode) and member.first.value != "<<":
                site = _site(self.layer, member, member.first, member.last, Handle(self, member, borrowed))
                found += [site] if site else []
        return found

    def edits(self, wishes: Sequence[Wish], adds: Sequence[Add]) -> list[Edit]:
        changes = Changes(self.layer, self.node)
        found: list[Edit] = []
        flow = bool(self.node.flow_style)
        for wish in wishes:
            member: Member = wish.place
            for comment in wish.comments:
                found += remark_member(self.layer, self.node, member.first, comment.text)
            if wish.removed:
                changes.gone.add(member.index)
            elif wish.rewrite:
                name, _, value = written(wish.site, wish.rewrite)
                found += rename_key(self.layer, member.first, name)
                if value != wish.site.value and not (isinstance(value, Raw) and wish.site.value is UNKNOWN):
                    found += set_text(self.layer, member.last, _text(value, wish.rewrite), flow)
            for add in wish.adds:
                changes.new.setdefault(member.index, []).append(self._entry(add))
        for add in adds:
            changes.new.setdefault(len(self.node.value) - 1, []).append(self._entry(add))
        return [*found, *changes.edits()]

    def _entry(self, add: Add) -> str:
        values = [value for _, value in self.node.value if isinstance(value, ScalarNode)]
        style = values[0].style if values else '"'
        return f"{add.name}: {write_scalar(_text(add.value, add), style, bool(self.node.flow_style))}"


@dataclass(eq=False)
class EnvList:
    """`- NAME=value`; `- NAME` takes the value from outside."""

    layer: Layer
    node: SequenceNode

    def sites(self, borrowed: bool = False) -> list[OptionSite]:
        found = []
        for member in members(self.node):
            inlay = decode(self.layer, member.first)
            if inlay is None:
                continue
            name, equals, value = inlay.text.partition("=")
            size = len(name)
            if not name or templated(name):
                continue
            found.append(
                OptionSite(
                    name,
                    UNKNOWN if not equals or templated(value) else value,
                    Form.ENV,
                    span(inlay, 0, size),
                    cut(self.layer, *element(self.layer, member)),
                    Kind.ENV,
                    raw_name=name,
                    raw_value=value if equals else None,
                    value_span=span(inlay, size + 1, len(inlay.text)) if equals else None,
                    handle=Handle(self, member, borrowed),
                )
            )
        return found

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
                found += self._rewrite(wish, member)
            for add in wish.adds:
                changes.new.setdefault(member.index, []).append(self._entry(add))
        for add in adds:
            changes.new.setdefault(len(self.node.value) - 1, []).append(self._entry(add))
        return [*found, *changes.edits()]

    def _rewrite(self, wish: Wish, member: Member) -> list[Edit]:
        assert wish.rewrite is not None
        name, _, value = written(wish.site, wish.rewrite)
        inlay = decode(self.layer, member.first)
        if inlay is None:
            raise CannotEditError(wish.rewrite, "the item cannot be followed")
        if wish.site.value is UNKNOWN and isinstance(value, Raw):
            return replaced(part(inlay, 0, len(wish.site.raw_name)), 0, len(wish.site.raw_name), name)
        text = f"{name}={_text(value, wish.rewrite)}"
        return set_text(self.layer, member.first, text, bool(self.node.flow_style))

    def _entry(self, add: Add) -> str:
        style = self.node.value[0].style if self.node.value and isinstance(self.node.value[0], ScalarNode) else None
        return write_scalar(f"{add.name}={_text(add.value, add)}", style, bool(self.node.flow_style))


@dataclass(eq=False)
class EnvPairs:
    """`- name: NAME` with `value:` or `valueFrom:`, as Kubernetes has it."""

    layer: Layer
    node: SequenceNode

    def sites(self, borrowed: bool = False) -> list[OptionSite]:
        found = []
        for member in members(self.node):
            name = get(member.first, "name")
            if name is not None:
                site = _site(self.layer, member, name, get(member.first, "value"), Handle(self, member, borrowed))
                found += [site] if site else []
        return found

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
                found += self._rewrite(wish, member)
            for add in wish.adds:
                changes.new.setdefault(member.index, []).append(self._entry(add))
        for add in adds:
            changes.new.setdefault(len(self.node.value) - 1, []).append(self._entry(add))
        return [*found, *changes.edits()]

    def _rewrite(self, wish: Wish, member: Member) -> list[Edit]:
        assert wish.rewrite is not None
        name, _, value = written(wish.site, wish.rewrite)
        key, old = get(member.first, "name"), get(member.first, "value")
        found = rename_key(self.layer, key, name) if key is not None else []
        if old is not None and value != wish.site.value and not isinstance(value, Raw):
            flow = bool(getattr(member.first, "flow_style", False))
            found += set_text(self.layer, old, _text(value, wish.rewrite), flow)
        return found

    def _entry(self, add: Add) -> str:
        value = write_scalar(_text(add.value, add), '"')
        value = value if value[0] in "'\"" else f'"{value}"'
        if self.node.flow_style:
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
