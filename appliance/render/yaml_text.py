"""YAML that every reader takes for the same data: order as given, long texts as blocks, doubtful strings quoted."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

PLAIN = re.compile(r"[A-Za-z/][\x20-\x7e]+")
"""Other strings may be numbers, dates or special values to a reader of YAML 1.2, although not to this writer's 1.1."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None if PLAIN.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(header: Iterable[str], documents: Iterable[dict[str, Any]]) -> str:
    """`header` becomes comment lines on top."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in header)
    parts = [
        yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6, default_flow_style=False)
        for document in documents
    ]
    return comment + "---\n".join(parts)
