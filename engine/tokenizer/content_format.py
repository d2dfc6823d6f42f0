"""Does a chat template walk over a message's content parts, or does it expect plain text?"""

from collections.abc import Iterator
from typing import Literal

from jinja2 import Environment, nodes

ContentFormat = Literal["string", "parts"]


def detect(environment: Environment, text: str) -> ContentFormat:
    """`parts` when some loop runs over a message's content, directly or through a variable or a macro's argument."""
    tree = environment.parse(text)
    aliases = set(_aliases(tree))
    loops = (node.iter for node in tree.find_all(nodes.For))
    return "parts" if any(_is_content(expression, aliases) for expression in loops) else "string"


def _aliases(tree: nodes.Template) -> Iterator[str]:
    for assign in tree.find_all(nodes.Assign):
        if isinstance(assign.target, nodes.Name) and _is_content(assign.node, set()):
            yield assign.target.name
    macros = {macro.name: macro for macro in tree.find_all(nodes.Macro)}
    for call in tree.find_all(nodes.Call):
        macro = macros.get(call.node.name) if isinstance(call.node, nodes.Name) else None
        if macro is None:
            continue
        for parameter, argument in zip(macro.args, call.args, strict=False):
            if _is_content(argument, set()):
                yield parameter.name
        yield from (keyword.key for keyword in call.kwargs if _is_content(keyword.value, set()))


def _is_content(expression: nodes.Node, aliases: set[str]) -> bool:
    match expression:
        case nodes.Name():
            return expression.name in aliases
        case nodes.Getattr():
            return expression.attr == "content"
        case nodes.Getitem(arg=nodes.Const(value="content")):
            return True
        case nodes.Getitem(arg=nodes.Slice()) | nodes.Filter() | nodes.Test():
            return expression.node is not None and _is_content(expression.node, aliases)
        case _:
            return False
