"""Arguments as items of YAML sequences, one word each, perhaps spread over `command` and `args`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from yaml.nodes import Node, ScalarNode, SequenceNode

from appliance.migrations.argv import Range, Word, read_words
from appliance.migrations.canonical import Edit, Form, OptionSite, Quirk
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.inside import edit_inside
from appliance.migrations.dialects.layers import Inlay, Layer, cut, offsets, part, replaced, span
from appliance.migrations.dialects.wishes import Handle, Wish, flag_goes, flag_only, new_words, words
from appliance.migrations.dialects.yaml_edit import Changes, depends, elements, members
from appliance.migrations.dialects.yaml_scalar import content, decode, safe_plain, write_scalar
from appliance.migrations.dialects.yaml_tree import tree_of
from appliance.migrations.dialects.yaml_write import remark_member
from appliance.migrations.operations import Add, CannotEditError

_TEMPLATE = re.compile(r"\{[{%#]|\$[({]")


@dataclass(frozen=True, slots=True)
class Item:
    """One word of the list. inlay: its decoded text."""

    parent: SequenceNode
    index: int
    node: ScalarNode
    inlay: Inlay

    @property
    def text(self) -> str:
        return self.inlay.text


def read_items(layer: Layer, node: Node | None) -> list[Item]:
    """The scalar items of a sequence that can be followed."""
    found = []
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            inlay = decode(layer, item)
            if isinstance(item, ScalarNode) and inlay is not None:
                found.append(Item(node, index, item, inlay))
    return found


@dataclass(eq=False)
class ArgList:
    """items: the words behind the entrypoint. home: the sequence that takes options when there are no items yet."""

    layer: Layer
    items: list[Item]
    home: SequenceNode | None = None

    def sites(self, borrowed: bool = False, model: bool = True) -> list[OptionSite]:
        listed = [
            Word(item.text, span(self.layer, content(self.layer, item.node), item.node.end_mark.index), False, at)
            for item in self.items
            for at in [offsets(item.inlay)]
        ]
        sites = read_words(listed, model)
        if model and sites and sites[0].form is Form.POSITIONAL and sites[0].value == "serve":
            first = replace(sites[0], quirk=Quirk.SERVE_WORD)
            rest = read_words(listed[1:], model)
            sites = [first, *(replace(s, handle=Range(s.handle.first + 1, s.handle.last + 1)) for s in rest)]
        return [self._placed(site, borrowed) for site in sites]

    def _placed(self, site: OptionSite, borrowed: bool) -> OptionSite:
        if site.quirk is Quirk.JOINED and _TEMPLATE.search(site.raw_name):
            site = replace(site, quirk=None)
        first, last = self.items[site.handle.first], self.items[site.handle.last]
        whole = site.element
        if first.parent is last.parent:
            siblings = members(first.parent)
            whole = cut(self.layer, *elements(self.layer, siblings[first.index], siblings[last.index]))
        return replace(site, element=whole, handle=Handle(self, site.handle, borrowed))

    def edits(self, wishes: Sequence[Wish], adds: Sequence[Add]) -> list[Edit]:
        changes: dict[int, Changes] = {}
        found: list[Edit] = []
        for wish in wishes:
            found += self._wish(wish, changes)
        anchor = next((item for item in reversed(self.items) if not self._depends(item)), None)
        for add in adds:
            if anchor is None and self.items:
                raise CannotEditError(add, "a template decides about every argument here")
            texts = words(add.name, add.value, add.path, self._equals(), add)
            if anchor is not None:
                self._insert(changes, anchor, texts)
            elif self.home is not None:
                change = changes.setdefault(id(self.home), Changes(self.layer, self.home))
                new = change.new.setdefault(len(self.home.value) - 1, [])
                new += [write_scalar(text, '"', bool(self.home.flow_style)) for text in texts]
            else:
                raise CannotEditError(add, "there is no list of arguments to put it into")
        return [*found, *(edit for change in changes.values() for edit in change.edits())]

    def _depends(self, item: Item) -> bool:
        return depends(self.layer, item.parent, item.node.start_mark.index)

    def _wish(self, wish: Wish, changes: dict[int, Changes]) -> list[Edit]:
        first, last = wish.place.first, wish.place.last
        old = self.items[first : last + 1]
        found: list[Edit] = []
        for comment in wish.comments:
            found += remark_member(self.layer, old[0].parent, old[0].node, comment.text)
        flag = flag_only(wish)
        if wish.removed:
            self._gone(changes, old)
        elif flag_goes(wish):
            self._gone(changes, old[:1])
        elif flag is not None:
            found += replaced(old[0].inlay, 0, len(wish.site.raw_name), flag)
        elif wish.rewrite:
            equals = wish.site.form is Form.EQUALS or (len(old) == 1 and not wish.site.quirk and self._equals())
            new = new_words(wish, equals)
            for item, text in zip(old, new, strict=False):
                found += self._set(item, text)
            self._gone(changes, old[len(new) :])
            if len(new) > len(old):
                self._insert(changes, old[-1], new[len(old) :])
        if wish.inner:
            if old[-1].index in getattr(changes.get(id(old[-1].parent)), "gone", ()):
                raise CannotEditError(wish.inner[0], "its value is taken away by another change")
            value = wish.site.raw_value or ""
            size = len(old[-1].text)
            layer = part(old[-1].inlay, max(0, size - len(value)) if len(old) == 1 else 0, size)
            found += inner_json(layer, wish)
        for add in wish.adds:
            self._insert(changes, old[-1], words(add.name, add.value, add.path, self._equals(), add))
        return found

    def _gone(self, changes: dict[int, Changes], items: list[Item]) -> None:
        for item in items:
            changes.setdefault(id(item.parent), Changes(self.layer, item.parent)).gone.add(item.index)

    def _insert(self, changes: dict[int, Changes], after: Item, texts: list[str]) -> None:
        change = changes.setdefault(id(after.parent), Changes(self.layer, after.parent))
        flow = bool(after.parent.flow_style)
        new = change.new.setdefault(after.index, [])
        new += [write_scalar(text, self._style(), flow) for text in texts]

    def _set(self, item: Item, text: str) -> list[Edit]:
        flow = bool(item.parent.flow_style)
        plain = not item.node.style
        if item.text == text or not plain or safe_plain(text, flow):
            return replaced(item.inlay, 0, len(item.text), text)
        start = content(self.layer, item.node)
        return [self.layer.edit(start, item.node.end_mark.index, write_scalar(text, None, flow))]

    def _style(self) -> str | None:
        styles = [item.node.style for item in self.items]
        return max(("'", '"', ""), key=styles.count) if styles else None

    def _equals(self) -> bool:
        joined = sum("=" in item.text for item in self.items if item.text.startswith("--"))
        alone = sum(not item.text.startswith("-") for item in self.items)
        return joined > alone


def inner_json(layer: Layer, wish: Wish) -> list[Edit]:
    try:
        tree = tree_of(layer)
    except DialectError as error:
        raise CannotEditError(wish.inner[0], f"its value cannot be followed: {error.fact}") from None
    if not tree.roots:
        raise CannotEditError(wish.inner[0], "its value is empty")
    return edit_inside(layer, tree.roots[0], wish.inner)
