"""Any other text that starts the engine: Terraform, Nomad, batch files, PowerShell, TOML, supervisor ... Report only.

Words are found wherever they stand, but how the format quotes and joins them is not known. Options are told apart from
those of other programs by their names, so that a misspelt one is not seen.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from appliance.migrations.argv import read_words
from appliance.migrations.canonical import Deployment, Edit, Entrypoint, Form, Kind, OptionSite, ReleaseHint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects.layers import FileLayer, span
from appliance.migrations.dialects.pieces import Piece
from appliance.migrations.dialects.pins import pin_in
from appliance.migrations.dialects.quoting import SHELL
from appliance.migrations.dialects.serving import TAGGED, engine_variable, image_hint, model_of
from appliance.migrations.operations import CannotEditError, Operation
from appliance.migrations.values import templated

_FORMATS = frozenset(
    {".bat", ".cfg", ".cmd", ".conf", ".cue", ".groovy", ".hcl", ".ini", ".j2", ".jinja", ".jinja2", ".jsonnet"}
    | {".libsonnet", ".nomad", ".properties", ".ps1", ".tf", ".tftpl", ".tmpl", ".toml", ".tpl", ".xml"}
)
_BETWEEN = r"[\s\"',\[\]()^`\\]+"
_START = re.compile(
    rf"(?P<serve>\bvllm{_BETWEEN}serve\b)|(?P<module>-m{_BETWEEN}vllm\.entrypoints[\w.]*)|(?P<image>\bvllm-openai\b)"
    r"|(?P<other>\bimage\s*[=:]\s*[\"'](?![^\"'\n]*vllm))"
)
_ENTRYPOINTS = {"serve": Entrypoint.SERVE, "module": Entrypoint.API_SERVER, "image": Entrypoint.IMAGE}
_WORD = re.compile(r"[^\s\"',\[\]()^`\\]+")
# a batch file's variable, a reference of Terraform, the beginning of JSON
_LATER = re.compile(r"%|.*\{|(?:var|local|each|module|data)\.")
_REMARK = re.compile(r"^[ \t]*(?:#|//|::|;|(?i:rem)\b)[^\n]*", re.MULTILINE)
_VARIABLE = re.compile(r"(?<![\w$%{.])(VLLM_[A-Z0-9_]+)\b[\"']?\s*[=:]\s*[\"']?([^\s\"',;})]*)")
_NAMED = re.compile(r"\bname\s*[=:]\s*[\"'](VLLM_[A-Z0-9_]+)[\"'],?\s*value\s*[=:]\s*[\"']?([^\s\"',;})]*)")


class _Reader:
    def __init__(self, text: str) -> None:
        self.layer = FileLayer(_REMARK.sub(lambda found: " " * len(found.group()), text))
        self.text = self.layer.text

    def read(self) -> list[Deployment]:
        starts = list(_START.finditer(self.text))
        ends = [start.start() for start in starts[1:]] + [len(self.text)]
        env, hint, found = tuple(self._variables()), self._hint(), []
        for start, end in zip(starts, ends, strict=True):
            entrypoint = _ENTRYPOINTS.get(start.lastgroup or "")
            if entrypoint is None:
                continue
            sites = self._options(start.end(), end, entrypoint)
            if any(site.form is not Form.POSITIONAL for site in sites):
                found.append((entrypoint, sites))
        if not found and env:
            found.append((Entrypoint.SERVE, ()))
        return [
            Deployment(
                (*env, *sites),
                entrypoint,
                model=model_of(sites),
                release=hint,
                editable=False,
                takes_options=False,
                takes_env=False,
            )
            for entrypoint, sites in found
        ]

    def _options(self, start: int, end: int, entrypoint: Entrypoint) -> tuple[OptionSite, ...]:
        pieces = [self._piece(*found.span()) for found in _WORD.finditer(self.text, start, end)]
        words = [piece.word(self.layer, SHELL) for piece in pieces]
        known = catalogue().options
        sites = read_words(words, entrypoint is Entrypoint.SERVE)
        return tuple(site for site in sites if site.name in known and site.raw_name[:2] in ("", "--"))

    def _piece(self, start: int, end: int) -> Piece:
        """JSON is cut at its quotes, so that what begins like some cannot be known."""
        word = self.text[start:end]
        return Piece(start, end, word, opaque=templated(word) or _LATER.match(word) is not None)

    def _variables(self) -> Iterator[OptionSite]:
        for pattern in (_VARIABLE, _NAMED):
            for found in pattern.finditer(self.text):
                name, value = found.groups()
                if engine_variable(name):
                    where, element = span(self.layer, *found.span(1)), span(self.layer, *found.span())
                    yield OptionSite(
                        name,
                        value,
                        Form.ENV,
                        where,
                        element,
                        Kind.ENV,
                        raw_name=name,
                        raw_value=value,
                        value_span=span(self.layer, *found.span(2)),
                    )

    def _hint(self) -> ReleaseHint | None:
        hints = (image_hint(found.group(), span(self.layer, *found.span())) for found in TAGGED.finditer(self.text))
        return pin_in(self.layer) or next((hint for hint in hints if hint and hint.release), None)


class _Text:
    name = "text"

    def detect(self, path: str, text: str) -> float:
        return 0.05 if PurePath(path).suffix.lower() in _FORMATS and _START.search(text) else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        return _Reader(text).read()

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        for operation in operations:
            raise CannotEditError(operation, "this format is reported on, never edited: change it there yourself")
        return []


dialect = _Text()
