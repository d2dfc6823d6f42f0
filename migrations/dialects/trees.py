"""tree-sitter trees whose nodes are found again in the text, which counts characters where the trees count bytes."""

import re
from bisect import bisect_right
from functools import cache
from importlib import import_module
from typing import Any

# Half characters and NUL: no grammar is made for them.
_UNREADABLE = re.compile("[\ud800-\udfff\0]")


@cache
def _parser(grammar: str) -> Any:
    import tree_sitter

    return tree_sitter.Parser(tree_sitter.Language(import_module(grammar).language()))


class Tree:
    """source: what the grammar reads, as long as the text itself."""

    def __init__(self, grammar: str, text: str, source: str | None = None) -> None:
        self.text = text
        self._wide: list[int] = []
        self._shift: list[int] = []
        source = _UNREADABLE.sub("?", text if source is None else source)
        data = source.encode()
        if len(data) != len(source):
            self._measure(source)
        self.root: Any = _parser(grammar).parse(data).root_node

    def _measure(self, source: str) -> None:
        extra = 0
        for index, char in enumerate(source):
            if char > "\x7f":
                extra += 1 if char < "\u0800" else 2 if char < "\U00010000" else 3
                self._wide.append(index + 1 + extra)
                self._shift.append(extra)

    def _at(self, byte: int) -> int:
        if not self._wide:
            return byte
        found = bisect_right(self._wide, byte)
        return byte - self._shift[found - 1] if found else byte

    def span(self, node: Any) -> tuple[int, int]:
        return self._at(node.start_byte), self._at(node.end_byte)

    def of(self, node: Any) -> str:
        return self.text[slice(*self.span(node))]
