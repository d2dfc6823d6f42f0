"""Entries of YAML mappings and sequences taken out and put in, in block and flow style, JSON included; remarks."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import Edit
from appliance.migrations.dialects.layers import Layer
from appliance.migrations.dialects.yaml_scalar import content

_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?(\r?\n|\Z)")
_OPEN = re.compile(r"(?:[:-]|[&!]\S*)\Z")
_PREAMBLE = re.compile(r"(?:[&!]\S*|\s+|#[^\n]*)*")
_ALIAS = re.compile(r"[ \t]*:(?:[ \t]+\*[^\s,\[\]{}]+)?")
# a template's line that may write members of its own, and what opens or closes a block of it
_WRITES = re.compile(r"\s*\{\{-?\s*(?!end\b|else\b|/\*)")
_BLOCK = re.compile(r"\{\{-?\s*(if|range|with|end)\b")
_GAP = re.compile(r"[ \t\r\n]*")

Parent = MappingNode | SequenceNode


@dataclass(frozen=True, slots=True)
class Member:
    """An item of a sequence, or a key with its value; start and end are those of its own text."""

    parent: Parent
    index: int
    first: Node
    last: Node


def members(parent: Node) -> list[Member]:
    if isinstance(parent, SequenceNode):
        return [Member(parent, index, item, item) for index, item in enumerate(parent.value)]
    if isinstance(parent, MappingNode):
        return [Member(parent, index, key, value) for index, (key, value) in enumerate(parent.value)]
    return []


def end_of(layer: Layer, node: Node) -> int:
    """Where the node's last own character ends; a block collection's mark lies behind its comments."""
    while isinstance(node, SequenceNode | MappingNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, MappingNode) else last
    end: int = node.end_mark.index
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        return len(layer.text[:end].rstrip()) if end - node.start_mark.index < 2 else _rstrip(layer.text, end)
    return end


def _rstrip(text: str, end: int) -> int:
    while end and text[end - 1] in " \t\r\n":
        end -= 1
    return end


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _blank_before(text: str, at: int) -> bool:
    return not text[line_start(text, at) : at].strip(" \t")


def _start(layer: Layer, member: Member) -> int:
    """Of the item's dash, or of the key."""
    text = layer.text
    at: int = member.first.start_mark.index
    if isinstance(member.parent, MappingNode) or member.parent.flow_style:
        return at
    first: int = member.parent.start_mark.index
    found = _PREAMBLE.match(text, first)
    first = found.end() if found else first
    column = first - line_start(text, first)
    if member.index == 0:
        return first
    line = line_start(text, at)
    while line > first and not (text[line + column : line + column + 1] == "-" and _blank_before(text, line + column)):
        line = line_start(text, line - 1)
    return line + column if line > first else at


def _own_end(layer: Layer, member: Member) -> int:
    end = end_of(layer, member.last)
    if isinstance(member.parent, MappingNode) and end <= member.first.end_mark.index:
        found = _ALIAS.match(layer.text, member.first.end_mark.index)
        return found.end() if found else member.first.end_mark.index
    return max(end, _start(layer, member) + 1)


def behind_alias(parent: Parent) -> bool:
    """Whether members stand elsewhere in the file, so that their places here are not known."""
    start, end = parent.start_mark.index, parent.end_mark.index
    for member in members(parent):
        nodes = (member.first, member.last) if parent.flow_style else (member.first,)
        if any(not start <= node.start_mark.index <= end for node in nodes):
            return True
    return False


def depends(layer: Layer, parent: Node, at: int) -> bool:
    """Whether a block that a template opens inside the collection is still open there."""
    words = _BLOCK.findall(layer.text, parent.start_mark.index, at)
    return 2 * words.count("end") < len(words)


def element(layer: Layer, member: Member) -> tuple[int, int]:
    """What disappears with the member alone."""
    siblings = members(member.parent)
    if behind_alias(member.parent):
        return member.first.start_mark.index, max(member.first.end_mark.index, end_of(layer, member.last))
    if member.parent.flow_style:
        return _flow_run(layer, siblings, member.index, member.index)
    start, end = _start(layer, member), _own_end(layer, member)
    if _blank_before(layer.text, start):
        rest = _REST.match(layer.text, end)
        return (line_start(layer.text, start), rest.end()) if rest else (start, end)
    if member.index + 1 < len(siblings):
        return start, _start(layer, siblings[member.index + 1])
    return start, end


def elements(layer: Layer, first: Member, last: Member) -> tuple[int, int]:
    """What disappears with neighbouring members of one collection."""
    if first.parent.flow_style and not behind_alias(first.parent):
        return _flow_run(layer, members(first.parent), first.index, last.index)
    start, end = element(layer, first)[0], element(layer, last)[1]
    return min(start, end), max(start, end)


def _flow_run(layer: Layer, siblings: list[Member], first: int, last: int) -> tuple[int, int]:
    """Neighbours with one of the commas around them; comments of others stay."""
    text = layer.text
    start, end = _start(layer, siblings[first]), end_of(layer, siblings[last].last)
    if first == 0 and last + 1 == len(siblings):
        return start, _behind_comma(text, end)
    other = _start(layer, siblings[last + 1]) if first == 0 else end_of(layer, siblings[first - 1].last)
    if "#" not in (text[end:other] if first == 0 else text[other:start]):
        return (start, other) if first == 0 else (other, end)
    return _lines(text, start, end)


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """With the comma behind, and the whole line where nothing else stands on it."""
    end = _behind_comma(text, end)
    rest = _REST.match(text, end)
    if rest and rest[1] and _blank_before(text, start):
        return line_start(text, start), rest.end()
    return start, end


def _behind_comma(text: str, end: int) -> int:
    at = _GAP.match(text, end).end()  # type: ignore[union-attr]
    return at + 1 if text[at : at + 1] == "," else end


@dataclass
class Changes:
    """What happens to the members of one collection; `edits` makes it so."""

    layer: Layer
    parent: Parent
    gone: set[int] = field(default_factory=set)
    # member after which (-1: at the start) -> texts, each without its dash or line
    new: dict[int, list[str]] = field(default_factory=dict)

    def edits(self) -> list[Edit]:
        if not self.gone and not self.new:
            return []
        if behind_alias(self.parent):
            raise ValueError("its neighbours stand behind an alias")
        siblings = members(self.parent)
        return self._flow(siblings) if self.parent.flow_style or not siblings else self._block(siblings)

    def _block(self, siblings: list[Member]) -> list[Edit]:
        layer, text = self.layer, self.layer.text
        found = [layer.edit(*element(layer, siblings[index]), "") for index in sorted(self.gone)]
        start = _start(layer, siblings[0])
        indent = " " * (start - line_start(text, start))
        for after, added in self.new.items():
            lines = [indent + _dashed(layer, siblings, line, indent) for line in added]
            at = _own_end(layer, siblings[max(after, 0)])
            rest = _REST.match(text, at)
            if after < 0 and _blank_before(text, start):
                found.append(layer.edit(line_start(text, start), line_start(text, start), _joined(lines) + "\n"))
            elif rest is None:
                raise ValueError("something else stands on the line")
            elif rest[1]:
                found.append(layer.edit(rest.end(), rest.end(), _joined(lines) + "\n"))
            else:
                found.append(layer.edit(rest.end(), rest.end(), "\n" + _joined(lines)))
        if len(self.gone) == len(siblings) and not self.new:
            found += self._emptied(siblings)
        return found

    def _emptied(self, siblings: list[Member]) -> list[Edit]:
        """A key with nothing behind it would be null; it gets an empty collection, unless a template fills it."""
        text = self.layer.text
        if _WRITES.match(text, _own_end(self.layer, siblings[-1])):
            return []
        start = _start(self.layer, siblings[0])
        empty = "[]" if isinstance(self.parent, SequenceNode) else "{}"
        if not _blank_before(text, start):
            return [self.layer.edit(start, start, empty)]
        at = line_start(text, start)
        if self.parent.start_mark.index >= at and not text[:at].strip():
            return [self.layer.edit(at, at, f"{empty}\n")]
        while at:
            at = _rstrip(text, at)
            line = text[line_start(text, at) : at]
            if line.lstrip().startswith(("{{", "{%")):
                at = line_start(text, at)
                continue
            comment = re.search(r"(?:^|[ \t])#", line)
            if comment is None:
                break
            at = line_start(text, at) + comment.start()
        if _OPEN.search(text, line_start(text, at), at):
            return [self.layer.edit(at, at, f" {empty}")]
        return []

    def _flow(self, siblings: list[Member]) -> list[Edit]:
        layer = self.layer
        kept = [member for member in siblings if member.index not in self.gone]
        if not kept:
            added = [item for _, texts in sorted(self.new.items()) for item in texts]
            if not siblings:
                inside = content(layer, self.parent) + 1
                return [layer.edit(inside, inside, ", ".join(added))]
            found = [layer.edit(start, end, "") for start, end in self._flow_gaps(siblings)]
            inside = content(layer, self.parent) + 1
            return [*found, layer.edit(inside, inside, ", ".join(added))] if added else found
        found = [layer.edit(start, end, "") for start, end in self._flow_gaps(siblings)]
        for after, added in sorted(self.new.items()):
            before = [member for member in kept if member.index <= after]
            if before:
                at = end_of(layer, before[-1].last)
                found.append(layer.edit(at, at, "".join(self._separator(siblings) + item for item in added)))
            else:
                at = _start(layer, kept[0])
                found.append(layer.edit(at, at, "".join(item + ", " for item in added)))
        return found

    def _flow_gaps(self, siblings: list[Member]) -> list[tuple[int, int]]:
        """The spans to cut, one for each run of neighbours; line by line where comments stand among them."""
        layer, text = self.layer, self.layer.text
        spans: list[tuple[int, int]] = []
        for index in sorted(self.gone):
            if index - 1 in self.gone:
                continue
            last = index
            while last + 1 in self.gone:
                last += 1
            run = siblings[index : last + 1]
            if "#" not in text[_start(layer, run[0]) : end_of(layer, run[-1].last)]:
                spans.append(_flow_run(layer, siblings, index, last))
                continue
            for _, line in groupby(run, lambda member: line_start(text, _start(layer, member))):
                together = list(line)
                spans.append(_lines(text, _start(layer, together[0]), end_of(layer, together[-1].last)))
        return spans

    def _separator(self, siblings: list[Member]) -> str:
        for left, right in pairwise(siblings):
            gap = self.layer.text[end_of(self.layer, left.last) : _start(self.layer, right)]
            if "#" not in gap and gap.strip() == ",":
                return gap
        return ", "


def _dashed(layer: Layer, siblings: list[Member], line: str, indent: str) -> str:
    if isinstance(siblings[0].parent, MappingNode):
        return line.replace("\n", "\n" + indent)
    start, inside = _start(layer, siblings[0]), siblings[0].first.start_mark.index
    between = layer.text[start + 1 : inside]
    gap = between if between and not between.strip(" ") else " "
    return f"-{gap}" + line.replace("\n", "\n" + indent + " " * (1 + len(gap)))


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)
