"""Options as the keys of a mapping: the engine's own YAML, keyword arguments, charts with their own spelling."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.argv import name_of
from appliance.migrations.canonical import UNKNOWN, Edit, Form, Kind, OptionSite, Plain, Quirk, Span, Value
from appliance.migrations.catalogue import Facts
from appliance.migrations.dialects.arg_list import inner_json
from appliance.migrations.dialects.inside import edit_inside, known, rename_key, set_value
from appliance.migrations.dialects.layers import Layer, cut, span
from appliance.migrations.dialects.wishes import Handle, Sink, Wish, words, written
from appliance.migrations.dialects.yaml_edit import Changes, Member, element, end_of, members
from appliance.migrations.dialects.yaml_scalar import content, decode, value_of, write_scalar
from appliance.migrations.dialects.yaml_write import flow_text, json_like, remark_member
from appliance.migrations.operations import Add, CannotEditError, Keep, NewValue, Operation, Rewrite
from appliance.migrations.values import as_bool, parse, to_text

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDED = ("str", "choice", "list")
_TRUTHS = ("true", "false", "yes", "no", "on", "off")


class Flavor(Enum):
    """Who reads the mapping."""

    ENGINE = "engine"  # `vllm serve --config`: keys become flags, `false` is dropped
    KEYWORDS = "keywords"  # Python keyword arguments: every value means what it says
    CHART = "chart"  # a template knows these keys and no others


@dataclass(eq=False)
class OptionKeys:
    """skipped: keys that are no options. variables: keys that stand for an environment variable.

    spill: where an option goes that the mapping itself has no key for; without it, a new list under spill_key.
    names: options of keys that are not spelled like them.
    """

    layer: Layer
    node: MappingNode
    flavor: Flavor
    skipped: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=dict)
    spill: Sink | None = None
    spill_key: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    def sites(self, borrowed: bool = False) -> list[OptionSite]:
        seen: set[str] = set()
        found: list[OptionSite] = []
        for member in members(self.node):
            if not isinstance(member.first, ScalarNode) or member.first.value in self.skipped | {"<<"}:
                continue
            site = self._site(member, Handle(self, member, borrowed))
            if site is not None:
                again = member.first.value in seen and self.flavor is not Flavor.CHART
                seen.add(member.first.value)
                found.append(_doubled(site) if again else site)
        return found

    def _site(self, member: Member, handle: Handle) -> OptionSite | None:
        key, node = decode(self.layer, member.first), member.last
        if key is None or not key.text:
            return None
        variable = self.variables.get(key.text)
        spelled = dashed(key.text) if self.flavor is Flavor.CHART else key.text.replace("_", "-")
        named = name_of("--" + self.names.get(key.text, spelled))
        raw = value_of(self.layer, node)
        value, quirk = (raw, None) if variable else self._meaning(raw, node, named.facts, named.negative)
        form = Form.JSON_KEY if json_like(self.layer, self.node) else Form.YAML_KEY
        inlay = decode(self.layer, node)
        start, end = content(self.layer, node), end_of(self.layer, node)
        text = inlay.text if inlay else self.layer.text[start:end].rstrip()
        return OptionSite(
            variable or named.name,
            value,
            form,
            span(key, 0, len(key.text)),
            cut(self.layer, *element(self.layer, member)),
            Kind.ENV if variable else Kind.OPTION,
            () if variable else named.path,
            key.text,
            text,
            span(inlay, 0, len(inlay.text)) if inlay else Span(*self.layer.bounds(start, start + len(text))),
            quirk,
            handle,
        )

    def _meaning(self, raw: Value, node: Node, facts: Facts | None, negative: bool) -> tuple[Value, Quirk | None]:
        """The value by the option's type, and what the reader gets wrong about it."""
        engine = self.flavor is Flavor.ENGINE
        if raw is UNKNOWN:
            text = self.layer.text[node.start_mark.index : node.end_mark.index]
            return raw, Quirk.NOT_INTERPOLATED if engine and "${" in text else None
        if raw is None:
            return None, Quirk.NULL if engine else None
        if isinstance(raw, bool) and facts is not None and facts.type in _WORDED:
            # The loader takes `no` for a boolean; the option wants the word.
            return str(getattr(node, "value", raw)), Quirk.FALSE_DROPPED if engine and not raw else None
        if isinstance(raw, bool):
            dropped = Quirk.FALSE_DROPPED if engine and not raw else None
            return raw != negative, dropped
        switch = facts is not None and facts.type == "bool" and not facts.nargs
        if isinstance(raw, str):
            if switch and as_bool(raw) is not None and raw.lower() in _TRUTHS:
                return as_bool(raw) != negative, Quirk.QUOTED_BOOLEAN
            value = parse(raw, facts)
            return (value != negative if isinstance(value, bool) and switch else value), None
        if isinstance(raw, list) and engine and facts:
            whole = facts.nargs is None and facts.type.startswith("json")
            broken = any(isinstance(item, dict) for item in raw)
            return raw, Quirk.YAML_LIST if whole or broken else None
        return raw, None

    def edits(self, wishes: Sequence[Wish], adds: Sequence[Add]) -> list[Edit]:
        origin: dict[int, Operation] = {}
        try:
            return self._edits(wishes, adds, origin)
        except CannotEditError as error:
            raise CannotEditError(origin.get(id(error.operation), error.operation), error.reason) from None

    def _edits(self, wishes: Sequence[Wish], adds: Sequence[Add], origin: dict[int, Operation]) -> list[Edit]:
        changes = Changes(self.layer, self.node)
        nested: dict[tuple[str, int], dict[str, Plain]] = {}
        spilled: list[Add] = []
        found: list[Edit] = []
        for wish in wishes:
            found += self._wish(wish, changes, nested, spilled, origin)
        for add in adds:
            self._add(add, len(self.node.value) - 1, changes, nested, spilled)
        for (name, after), made in nested.items():
            changes.new.setdefault(after, []).append(self._entry(name, made))
        if spilled and self.spill is None:
            if not self.spill_key:
                raise CannotEditError(spilled[0], f"the chart has no key for {spilled[0].name}")
            said = [write_scalar(text, '"', True) for add in spilled for text in _arguments(add)]
            changes.new.setdefault(len(self.node.value) - 1, []).append(f"{self.spill_key}: [{', '.join(said)}]")
        found += changes.edits()
        return [*found, *(self.spill.edits([], spilled) if spilled and self.spill else [])]

    def _wish(
        self,
        wish: Wish,
        changes: Changes,
        nested: dict[tuple[str, int], dict[str, Plain]],
        spilled: list[Add],
        origin: dict[int, Operation],
    ) -> list[Edit]:
        member: Member = wish.place
        found: list[Edit] = []
        for comment in wish.comments:
            found += remark_member(self.layer, self.node, member.first, comment.text)
        if wish.removed:
            changes.gone.add(member.index)
        elif wish.rewrite:
            name, path, value = written(wish.site, wish.rewrite)
            moves = name != wish.site.name or path != wish.site.path
            if self.flavor is Flavor.CHART and (moves or wish.site.quirk):
                changes.gone.add(member.index)
                moved = Add(name, value, path)
                origin[id(moved)] = wish.rewrite
                spilled.append(moved)
            elif path != wish.site.path:
                changes.gone.add(member.index)
                moved = Add(name, value, path)
                origin[id(moved)] = wish.rewrite
                self._add(moved, member.index, changes, nested, spilled)
            else:
                found += self._rewrite(wish, wish.rewrite, member, name, value)
        if wish.inner:
            scalar = decode(self.layer, member.last)
            found += inner_json(scalar, wish) if scalar else edit_inside(self.layer, member.last, wish.inner)
        for add in wish.adds:
            self._add(add, member.index, changes, nested, spilled)
        return found

    def _rewrite(self, wish: Wish, rewrite: Rewrite, member: Member, name: str, value: NewValue) -> list[Edit]:
        site = wish.site
        keeps_value = isinstance(rewrite.value, Keep) and site.quirk is None
        if value is False and self.flavor is Flavor.ENGINE:
            key, value, keeps_value = f"no-{name}", True, False
        else:
            key = f"no-{name}" if keeps_value and site.value is False and self.flavor is Flavor.ENGINE else name
        found = rename_key(self.layer, member.first, self._spelled(key, site.raw_name))
        if keeps_value:
            return found
        textual = self.flavor is Flavor.ENGINE and isinstance(value, list | dict) and decode(self.layer, member.last)
        if site.quirk is Quirk.YAML_LIST or textual:
            return found + self._as_text(member, value, rewrite)
        if site.quirk is Quirk.QUOTED_BOOLEAN and isinstance(value, bool):
            start, end = content(self.layer, member.last), member.last.end_mark.index
            return [*found, self.layer.edit(start, end, to_text(value))]
        return found + set_value(self.layer, self.node, member.last, value, rewrite)

    def _as_text(self, member: Member, value: NewValue, operation: Operation) -> list[Edit]:
        """A list or mapping as one JSON text."""
        node = member.last
        said = known(value, operation)
        start, end = content(self.layer, node), node.end_mark.index
        text = write_scalar(to_text(said), "'", bool(self.node.flow_style))
        if isinstance(said, list) and any(isinstance(item, dict) for item in said):
            text = "[" + ", ".join(write_scalar(to_text(item), "'", True) for item in said) + "]"
        if isinstance(node, SequenceNode | MappingNode) and not node.flow_style:
            end = element(self.layer, members(node)[-1])[1]
            end = len(self.layer.text[:end].rstrip("\r\n"))
            start = self.layer.text.rindex(":", 0, start) + 1
            text = f" {text}"
        return [self.layer.edit(start, end, text)]

    def _add(
        self,
        add: Add,
        after: int,
        changes: Changes,
        nested: dict[tuple[str, int], dict[str, Plain]],
        spilled: list[Add],
    ) -> None:
        if add.kind is Kind.ENV:
            raise CannotEditError(add, f"set {add.name} by hand")
        if self.flavor is Flavor.CHART:
            spilled.append(add)
            return
        value = known(add.value, add)
        if not add.path:
            changes.new.setdefault(after, []).append(self._entry(add.name, value))
            return
        place = next((key for key in nested if key[0] == add.name), (add.name, after))
        made = nested.setdefault(place, {})
        for step in add.path[:-1]:
            made = made.setdefault(step, {})  # type: ignore[assignment]
        made[add.path[-1]] = value

    def _entry(self, name: str, value: Plain) -> str:
        keys = [key.value for key, _ in self.node.value if isinstance(key, ScalarNode)]
        snakes = sum("_" in key for key in keys)
        like = "_" if snakes > sum("-" in key for key in keys) or self.flavor is Flavor.KEYWORDS else "-"
        if value is False and self.flavor is Flavor.ENGINE:
            name, value = f"no-{name}", True
        quoted = json_like(self.layer, self.node)
        key = self._spelled(name, like)
        flow = bool(self.node.flow_style)
        if self.flavor is Flavor.ENGINE and isinstance(value, list):
            return f"{key}: " + write_scalar(to_text(value), "'", flow)
        text = flow_text(value, quoted) if quoted or not isinstance(value, str) else write_scalar(value, None, flow)
        return f'"{key}": {text}' if quoted else f"{key}: {text}"

    def _spelled(self, name: str, like: str) -> str:
        snake = "_" in like or ("-" not in like and self.flavor is Flavor.KEYWORDS)
        return name.replace("-", "_") if snake else name


def dashed(key: str) -> str:
    """`maxModelLen` as the option is spelled."""
    return _CAMEL.sub("-", key).lower().replace("_", "-")


def _arguments(add: Add) -> list[str]:
    return words(add.name, add.value, add.path, False, add)


def _doubled(site: OptionSite) -> OptionSite:
    return replace(site, quirk=site.quirk or Quirk.DUPLICATE)
