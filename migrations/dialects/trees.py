"""tree-sitter trees whose nodes are found again in the text, which counts characters where the trees count bytes."""

import re
from functools import cache
from importlib import import_module
from typing import Any

# Scanners of some grammars look such characters up in tables made for ASCII, and crash.
_WIDE = re.compile(r"[^\x01-\x7f]")


@cache
def _parser(grammar: str) -> Any:
    import tree_sitter

    return tree_sitter.Parser(tree_sitter.Language(import_module(grammar).language()))


class Tree:
    """source: what the grammar reads, as long as the text itself. Other characters than ASCII are read as letters."""

    def __init__(self, grammar: str, text: str, source: str | None = None) -> None:
        self.text = text
        data = _WIDE.sub("X", text if source is None else source).encode("ascii")
        self.root: Any = _parser(grammar).parse(data).root_node

    def span(self, node: Any) -> tuple[int, int]:
        return node.start_byte, node.end_byte

    def of(self, node: Any) -> str:
        return self.text[node.start_byte : node.end_byte]
