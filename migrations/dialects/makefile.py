"""Makefiles: recipe lines, each a shell of its own; exported variables; variables that hold options.

`$(VAR)` and `$$VAR` stay as they are. A variable with one plain value is followed to find the program and the model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from appliance.migrations.canonical import Deployment, Edit, OptionSite
from appliance.migrations.dialects.bash_tree import read_script
from appliance.migrations.dialects.launch import NESTED
from appliance.migrations.dialects.layers import FileLayer, Layer
from appliance.migrations.dialects.lines import Logical, blanked, line_site, logical_lines, pair, same_length, statement
from appliance.migrations.dialects.pieces import Remark, WordList
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.quoting import BARE, SHELL
from appliance.migrations.dialects.serving import engine_variable
from appliance.migrations.dialects.shell_edit import edit_words
from appliance.migrations.dialects.shell_reader import ShellReader
from appliance.migrations.dialects.words_reader import WordsReader
from appliance.migrations.operations import Operation

_TARGET = re.compile(r"^([\w./%$(){} -]+?)\s*::?(?![=:])")
_VARIABLE = re.compile(
    r"[ ]*((?:export|override)[ \t]+)*([\w.-]+)[ \t]*(::?:?|\+|\?|!)?=[ \t]*(?:\\\r?\n[ \t]*)?", re.ASCII
)
_EXPORT = re.compile(r"[ ]*export\b[ \t]*(.*)")
_PREFIX = re.compile(r"\t[ \t]*[@+-]*[ \t]*")
_HEAD = re.compile(r"^(?:\.PHONY\s*:|[\w./-]+\s*:(?!=)[^\n]*\n\t)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    exported: bool
    operator: str
    line: Logical
    at: tuple[int, int]
    start: int


class _File(WordsReader):
    def __init__(self, layer: Layer) -> None:
        super().__init__(layer)
        self.text = layer.text
        self.variables: list[_Variable] = []
        self.recipes: list[tuple[str, Logical]] = []
        self.exported: set[str] = set()
        self._scan()

    def _scan(self) -> None:
        target = ""
        for line in logical_lines(self.text):
            head = self.text[line.start : line.start + 1]
            if head == "\t":
                self.recipes.append((target, line))
                continue
            found = _VARIABLE.match(self.text, line.start, line.end)
            exports = _EXPORT.match(self.text, line.start, line.end)
            if found:
                exported = "export" in self.text[line.start : found.start(2)]
                at = found.span(2)
                self.variables.append(_Variable(found[2], exported, found[3] or "", line, at, found.end()))
            elif exports:
                self.exported |= set(exports[1].split()) or {"*"}
            elif head not in ("#", "", "\n"):
                rule = _TARGET.match(self.text[line.start : line.end])
                target = rule[1] if rule else target

    def read(self) -> list[Deployment]:
        env = self._env()
        self.literals = self._literals()
        lists = self._options()
        found: list[Deployment] = []
        for target, line in self.recipes:
            raw = self.text[line.start : line.end]
            if not re.search(r"vllm|\$[({]\w+", raw, re.IGNORECASE):
                continue
            prefix = _PREFIX.match(self.text, line.start, line.end)
            start = prefix.end() if prefix else line.start
            reader = ShellReader(
                same_length(self.layer, self.text[start : line.end], start),
                Remark(self.layer, line.start),
                seen=self._seen,
            )
            reader.take_from(self, lists)
            found += [replace(d, label=target or d.label) for d in reader.read(env)]
        return found

    def _literals(self) -> dict[str, str]:
        names = [variable.name for variable in self.variables]
        found = {}
        for variable in self.variables:
            value = self.text[variable.start : variable.line.end].split("#")[0].strip()
            if names.count(variable.name) == 1 and "$" not in value and "\\" not in value:
                found[variable.name] = value
        return found

    def _options(self) -> dict[str, list[WordList]]:
        lists: dict[str, list[WordList]] = {}
        for variable in self.variables:
            text = blanked(self.text, variable.start, variable.line.end)
            if not text.lstrip().startswith("-"):
                continue
            layer = same_length(self.layer, text, variable.start)
            commands = read_script(layer, every=True).commands
            if len(commands) == 1:
                remark = Remark(self.layer, variable.line.start)
                words = WordList(layer, commands[0].pieces, SHELL, 0, len(text), remark)
                lists.setdefault(variable.name, []).append(words)
        return lists

    def _env(self) -> list[OptionSite]:
        return list(self._sites())

    def _sites(self) -> Iterator[OptionSite]:
        for variable in self.variables:
            shared = variable.exported or variable.name in self.exported or "*" in self.exported
            value = self.text[variable.start : variable.line.end].rstrip()
            if (
                not shared
                or not engine_variable(variable.name)
                or "\\" in value
                or not value
                or variable.operator == "+"
            ):
                continue
            piece = pair(self.text, variable.at, (variable.start, variable.start + len(value)), quotes=False)
            yield line_site(self.layer, piece, BARE, statement(self.layer, variable.line.start, variable.line.end))


class _Makefile:
    name = "makefile"

    def detect(self, path: str, text: str) -> float:
        name = PurePath(path).name.lower()
        if name in ("makefile", "gnumakefile") or name.startswith("makefile.") or name.endswith((".mk", ".make")):
            return 0.95
        return 0.55 if not PurePath(path).suffix and _HEAD.search(text) and NESTED.search(text) else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        return with_neighbours(path, _File(FileLayer(text)).read())

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        return edit_words(deployment, operations)


dialect = _Makefile()
