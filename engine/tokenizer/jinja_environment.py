"""The sandbox chat templates are written for: Transformers' dialect of Jinja."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

LONGEST_PRODUCT = 1_000_000
"""Characters or items of a repeated text or list."""
LARGEST_POWER = 64


class GenerationBlock(Extension):
    """`{% generation %}` marks what the assistant wrote, for training; here its body is rendered as it stands."""

    tags = {"generation"}  # noqa: RUF012 - Jinja reads it from the class

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class PlainDict:
    """`dict` without the attributes of a class, which would lead out of the sandbox."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class GuardedNamespace(Namespace):
    """Refuses names with a leading underscore, which reach into Python."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *values = args
        Namespace.__init__(self)
        for name, value in dict(*values, **kwargs).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if str(name).startswith("_"):
            raise SecurityError(f"a namespace attribute may not begin with an underscore: {name}")
        super().__setitem__(name, value)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Refuses products that would fill the memory: no time limit can stop a single operation."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            for sequence, times in ((left, right), (right, left)):
                repeats = isinstance(sequence, str | list | tuple) and isinstance(times, int)
                if repeats and len(sequence) * times > LONGEST_PRODUCT:
                    raise SecurityError(f"a text or list repeated {times} times is too long")
        elif isinstance(right, int | float) and abs(right) > LARGEST_POWER:
            raise SecurityError(f"the power {right} is too large")
        return super().call_binop(context, operator, left, right)


def raise_exception(message: str) -> None:
    raise TemplateError(message)


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def now(form: str) -> str:
    return datetime.now().strftime(form)


def make_environment(clock: Callable[[str], str] = now) -> ImmutableSandboxedEnvironment:
    environment = BoundedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = to_json
    environment.globals.update(
        raise_exception=raise_exception, strftime_now=clock, dict=PlainDict(), namespace=GuardedNamespace
    )
    return environment


def compile_template(text: str) -> jinja2.Template:
    """Raises jinja2.TemplateSyntaxError."""
    return make_environment().from_string(text)
