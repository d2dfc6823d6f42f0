"""systemd units: ExecStart with continuations and specifiers, Environment=, and the EnvironmentFile beside the unit;
units of Podman's containers, whose Exec= follows Image=.

Variables of Environment= and of the EnvironmentFile are followed to find the model and, for options that take only
certain values, the value; they are changed where they are set, by whoever sets them.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from appliance.migrations.canonical import Deployment, Edit, Entrypoint, OptionSite
from appliance.migrations.dialects.launch import NESTED
from appliance.migrations.dialects.layers import FileLayer, Layer, span
from appliance.migrations.dialects.lines import Logical, blanked, logical_lines, same_length, statement, tokens
from appliance.migrations.dialects.outside import env_file
from appliance.migrations.dialects.pieces import Piece, Remark, WordList
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.quoting import SYSTEMD
from appliance.migrations.dialects.serving import engine_image, image_hint
from appliance.migrations.dialects.shell_edit import edit_words
from appliance.migrations.dialects.shell_reader import ShellReader
from appliance.migrations.dialects.word_sites import env_site
from appliance.migrations.dialects.words_reader import Draft, Home, Seen, WordsReader
from appliance.migrations.operations import Operation

_SETTING = re.compile(r"[ \t]*(ExecStart|EnvironmentFile|Environment|Exec|Image)[ \t]*=[ \t]*(?:\\\r?\n[ \t]*)*")
_PREFIX = re.compile(r"[@\-:+!|]*")
_FILLED = re.compile(r"\$\{\w+\}|\$[A-Za-z_]\w*|(?<!%)(?:%%)*%[a-zA-Z]|\{\{.*?\}\}")


class UnitReader(WordsReader):
    """path: of the unit, to find the EnvironmentFile; empty where there is none."""

    def __init__(self, layer: Layer, path: str = "") -> None:
        super().__init__(layer, seen=Seen(path))
        self.text = layer.text
        self._picture = ("", 0)

    def read(self) -> list[Deployment]:
        env: list[OptionSite] = []
        starts: list[tuple[Logical, int]] = []
        for line in logical_lines(self.text, "#;"):
            found = _SETTING.match(self.text, line.start, line.end)
            if not found:
                continue
            if found[1] == "Environment":
                env += self._environment(line, found.end())
            elif found[1] == "EnvironmentFile":
                self._read_file(found.end(), line.end)
            elif found[1] == "Image":
                written = self.text[found.end() : line.end].rstrip()
                self._picture = (written, found.end())
            else:
                prefix = _PREFIX.match(self.text, found.end(), line.end) if found[1] == "ExecStart" else None
                starts.append((line, prefix.end() if prefix else found.end()))
        self.literals |= {site.name: site.value for site in env if isinstance(site.value, str)}
        deployments: list[Deployment] = []
        for line, body in starts:
            deployments += self._exec(line, body, env)
        return deployments

    def _read_file(self, start: int, end: int) -> None:
        """An EnvironmentFile, from beside the unit, else from where it says; later ones win."""
        written = self.text[start:end].strip()
        start += self.text[start:end].index(written)
        name = written.lstrip("-").strip("\"'")
        place = span(self.layer, start, start + len(written))
        found = env_file(self._seen.path, name, "EnvironmentFile", place, beside=True)
        self._seen.sourced.found.append(found)
        self.literals |= found.values

    def _environment(self, line: Logical, body: int) -> list[OptionSite]:
        words = self._words(line, line.start, body)
        words.statement = statement(self.layer, line.start, line.end)
        words.remark = words.statement.remark
        return [env_site(words, index) for index, piece in enumerate(words.pieces) if index and "=" in piece.text]

    def _words(self, line: Logical, start: int, body: int) -> WordList:
        """The words of a line; a first one stands for what is in front of `body`, if anything is."""
        text = blanked(self.text, start, line.end, "#;")
        name = text[: body - start].partition("=")[0] + "="
        head = [Piece(0, len(name), name)] if body > start else []
        pieces = [*head, *tokens(text, body - start, len(text), _FILLED, escapes=True)]
        return WordList(same_length(self.layer, text, start), pieces, SYSTEMD, 0, len(text))

    def _exec(self, line: Logical, body: int, env: list[OptionSite]) -> list[Deployment]:
        words = self._words(line, body, body)
        remark = Remark(self.layer, line.start)
        for piece in words.pieces:
            if " " in piece.text.strip() and NESTED.search(piece.text):
                inner = ShellReader(piece.inlay(words.layer, SYSTEMD), remark, seen=self._seen)
                return [self._homed(d, line) for d in inner.read(env)]
        draft = self.start(words, 0, remark, lambda: env) or self._contained(words, remark, env)
        if draft is None:
            return []
        self._share(draft)
        return [self._homed(draft.finished(self.literals), line)]

    def _contained(self, words: WordList, remark: Remark, env: list[OptionSite]) -> Draft | None:
        """Arguments for the entrypoint of the unit's image."""
        image, at = self._picture
        if not engine_image(image) or not words.pieces:
            return None
        words.remark = remark
        sites = [*self._seen.sourced.sites(site.name for site in env), *env]
        hint = image_hint(image, span(self.layer, at, at + len(image)))
        draft = Draft(Entrypoint.IMAGE, Home(words, len(words.pieces) - 1, remark=remark), sites, release=hint)
        draft.elsewhere = self._seen.sourced.elsewhere
        self._take(draft, words, 0, len(words.pieces))
        return draft

    def _homed(self, deployment: Deployment, line: Logical) -> Deployment:
        if not deployment.handle.docker:
            deployment.handle.env_line = (self.layer, line.start, "Environment={}")
        return deployment


class _Systemd:
    name = "systemd"

    def detect(self, path: str, text: str) -> float:
        unit = re.search(r"^\[(?:Service|Container)\]|^ExecStart[ \t]*=", text, re.MULTILINE) is not None
        if PurePath(path).suffix in (".service", ".container"):
            return 0.95 if unit else 0.7
        return 0.8 if unit and re.match(r"\s*(?:[#;][^\n]*\s+)*\[\w+\]", text) else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        return with_neighbours(path, UnitReader(FileLayer(text), path).read())

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        return edit_words(deployment, operations)


dialect = _Systemd()
