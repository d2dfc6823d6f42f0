"""Dockerfiles: CMD and ENTRYPOINT as lists and as shell text, ENV in both forms, the image's tag and pins of pip.

ARG defaults are followed into FROM. Each stage that starts an engine is a deployment.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from appliance.migrations.canonical import Deployment, Edit, Entrypoint, OptionSite, ReleaseHint
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.launch import NESTED
from appliance.migrations.dialects.layers import FileLayer, Layer, span
from appliance.migrations.dialects.lines import (
    Logical,
    blanked,
    line_site,
    logical_lines,
    pair,
    same_length,
    statement,
    tokens,
)
from appliance.migrations.dialects.pieces import Piece, Remark, WordList
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.quoting import DOCKER, JSON_LIST
from appliance.migrations.dialects.serving import (
    engine_image,
    engine_options,
    engine_variable,
    image_hint,
    other_engine,
    serves,
)
from appliance.migrations.dialects.shell_edit import edit_words
from appliance.migrations.dialects.shell_reader import ShellReader
from appliance.migrations.dialects.word_sites import env_site
from appliance.migrations.dialects.words_reader import Draft, Home, WordsReader
from appliance.migrations.operations import Operation
from appliance.migrations.release import Release

_DECODER = json.JSONDecoder(strict=False)
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(?:\\\r?\n[ \t]*)*")
_HEREDOC = re.compile(r"<<-?[\"']?(\w+)[\"']?")
_FROM = re.compile(r"[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)", re.IGNORECASE)
_ARG = re.compile(r"(\w+)=[\"']?([^\s\"']*)")
_PYTHON = re.compile(r"(?:[\w./-]*/)?python:(3\.\d+)")
_FILL = re.compile(r"\$\{?(\w+)(?::-([^}]*))?\}?")
_HEAD = re.compile(r"(?:\s*#[^\n]*\n|\s*\n|\s*ARG[^\n]*\n)*\s*FROM[ \t]+\S+", re.IGNORECASE)


@dataclass
class _Stage:
    image: str = ""
    hint: ReleaseHint | None = None
    python: ReleaseHint | None = None
    env: list[OptionSite] = field(default_factory=list)
    entry: tuple[Logical, int] | None = None
    command: tuple[Logical, int] | None = None


class _File(WordsReader):
    def __init__(self, layer: Layer) -> None:
        super().__init__(layer)
        self.text = layer.text
        self.found: list[Deployment] = []
        self.stage = _Stage()
        self.pin: ReleaseHint | None = None

    def read(self) -> list[Deployment]:
        for line in _instructions(self.text):
            head = _INSTRUCTION.match(self.text, line.start, line.end)
            if head:
                self._instruction(head[1].upper(), line, head.end())
        self._finish()
        return [replace(d, release=self.pin) if d.release is None and self.pin else d for d in self.found]

    def _instruction(self, name: str, line: Logical, body: int) -> None:
        if name == "FROM":
            self._finish()
            found = _FROM.match(self.text, line.start)
            image = self._filled(found[1]) if found else ""
            hint = image_hint(image, span(self.layer, *found.span(1))) if found else None
            self.stage = _Stage(image, hint)
            version = _PYTHON.match(image)
            if found and version:
                where = span(self.layer, *found.span(1))
                self.stage.python = ReleaseHint(version.group(), Release.parse(version[1]), where, "image tag")
        elif name == "ARG":
            found = _ARG.match(self.text, body)
            if found:
                self.literals[found[1]] = found[2]
        elif name == "ENV":
            self._env(line, body)
        elif name == "ENTRYPOINT":
            self.stage.entry, self.stage.command = (line, body), None
        elif name == "CMD":
            self.stage.command = (line, body)
        elif name in ("RUN", "COPY") and "vllm" in self.text[line.start : line.end]:
            reader = self._shell(line, body)
            self.pin = reader.pin() or self.pin
            if NESTED.search(self.text, body, line.end):
                self.found += reader.read()

    def _filled(self, image: str) -> str:
        return _FILL.sub(lambda found: self.literals.get(found[1]) or found[2] or found.group(), image)

    def _env(self, line: Logical, body: int) -> None:
        text = blanked(self.text, line.start, line.end)
        inlay = same_length(self.layer, text, line.start)
        pieces = tokens(text, body - line.start, len(text))
        if not pieces:
            return
        if "=" in pieces[0].text:
            name = text[: body - line.start].rstrip("\\\r\n\t ")
            keyword = Piece(0, len(name), name)
            words = WordList(inlay, [keyword, *pieces], DOCKER, 0, len(text))
            words.statement = statement(self.layer, line.start, line.end)
            words.remark = words.statement.remark
            sites = [env_site(words, index) for index, piece in enumerate(words.pieces) if "=" in piece.text and index]
        else:
            value = text.rstrip()
            piece = (
                pair(text, (pieces[0].start, pieces[0].end), (min(pieces[1].start, len(value)), len(value)))
                if (len(pieces) > 1)
                else None
            )
            sites = [line_site(inlay, piece, DOCKER, statement(self.layer, line.start, line.end))] if piece else []
        self.stage.env += [site for site in sites if engine_variable(site.name)]

    def _shell(self, line: Logical, body: int) -> ShellReader:
        text = blanked(self.text, body, line.end)
        return ShellReader(same_length(self.layer, text, body), self._remark_at(line))

    def _remark_at(self, line: Logical) -> Remark:
        return Remark(self.layer, line.start)

    def _finish(self) -> None:
        """The deployment of a stage, from its entrypoint and command together."""
        stage = self.stage
        parts = [part for part in (stage.entry, stage.command) if part]
        lists = [(self._list(*part), part) for part in parts]
        for words, part in lists:
            if words is None:
                self._from_shell(*part)
        listed = [words for words, _ in lists if words]
        if listed and len(listed) == len(lists):
            self._from_lists(listed, parts[-1][0])

    def _from_shell(self, line: Logical, body: int) -> None:
        found = self._shell(line, body).read(self.stage.env)
        self._add(found, line)

    def _add(self, found: list[Deployment], line: Logical) -> None:
        for deployment in found:
            home = deployment.handle
            if isinstance(home, Home):
                home.env_line = (self.layer, line.start, "ENV {}")
            release = deployment.release or self.stage.hint
            self.found.append(replace(deployment, release=release, python=deployment.python or self.stage.python))

    def _from_lists(self, lists: list[WordList], line: Logical) -> None:
        stage = self.stage
        texts = [piece.text for words in lists for piece in words.pieces]
        for words in lists:
            for piece in words.pieces:
                if " " in piece.text.strip() and NESTED.search(piece.text):
                    inner = ShellReader(piece.inlay(self.layer, JSON_LIST), words.remark)
                    self._add(inner.read(stage.env), line)
                    return
        found = serves(texts)
        if found is None:
            named = engine_image(stage.image) and stage.entry is None
            if not named and (not engine_options(texts) or other_engine(stage.image)):
                return
            # a program of the image's own hands its words on, who knows how
            found = (0, Entrypoint.IMAGE) if stage.entry is None else (len(lists[0].pieces), Entrypoint.API_SERVER)
        start, entrypoint = found
        words = lists[-1]
        home = Home(words, len(words.pieces) - 1, env_line=(self.layer, line.start, "ENV {}"), remark=words.remark)
        draft = Draft(entrypoint, home, [*stage.env], "", stage.hint, stage.python)
        draft.positional = entrypoint.takes_word
        for words in lists:
            if start < len(words.pieces):
                self._take(draft, words, max(start, 0), len(words.pieces))
            start -= len(words.pieces)
        self._share(draft)
        self.found.append(draft.finished(self.literals))

    def _list(self, line: Logical, body: int) -> WordList | None:
        """The exec form; None for the shell form."""
        if self.text[body : body + 1] != "[":
            return None
        text = blanked(self.text, body, line.end)
        text = re.sub(r"\\(\r?)\n", lambda found: " " * len(found.group()), text)
        try:
            json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return None
        pieces = []
        at = text.find('"')
        while at >= 0:
            value, end = _DECODER.raw_decode(text, at)
            pieces.append(_json_piece(text, at, end, value, body))
            at = text.find('"', end)
        stop = body + text.rindex("]")
        return WordList(self.layer, pieces, JSON_LIST, body + 1, stop, self._remark_at(line))


def _json_piece(text: str, start: int, end: int, value: str, shift: int) -> Piece:
    if text[start + 1 : end - 1] == value:
        begins: Sequence[int] = range(shift + start + 1, shift + end - 1)
        ends: Sequence[int] = range(shift + start + 2, shift + end)
    else:
        marks = [
            m.span() for m in re.finditer(r"\\u[dD][89abAB]..\\u....|\\u....|\\.|.", text[start + 1 : end - 1], re.S)
        ]
        if len(marks) != len(value):
            raise DialectError(shift + start, "this list holds characters that cannot be told apart")
        begins = [shift + start + 1 + first for first, _ in marks]
        ends = [shift + start + 1 + last for _, last in marks]
    return Piece(shift + start, shift + end, value, begins, ends, '"' * len(value))


def _instructions(text: str) -> list[Logical]:
    """Instructions with their continuations and here-documents."""
    found: list[Logical] = []
    unclosed: set[str] = set()
    skip = 0
    for line in logical_lines(text):
        if line.start < skip or text[line.start : line.end].lstrip()[:1] in ("#", ""):
            continue
        here = _HEREDOC.search(text, line.start, line.end)
        if here and re.match(r"\s*(?:RUN|COPY|ADD)\b", text[line.start : line.end], re.IGNORECASE):
            close = None
            if here[1] not in unclosed:
                close = re.compile(rf"^[ \t]*{here[1]}\r?$", re.MULTILINE).search(text, line.end)
                unclosed |= set() if close else {here[1]}
            skip = close.end() if close else 0
            found.append(Logical(line.start, close.end() if close else line.end))
        else:
            found.append(line)
    return found


class _Dockerfile:
    name = "dockerfile"

    def detect(self, path: str, text: str) -> float:
        name = PurePath(path).name.lower()
        if name.startswith(("dockerfile", "containerfile")) or name.endswith((".dockerfile", ".containerfile")):
            return 0.95
        return 0.6 if not PurePath(path).suffix and _HEAD.match(text) else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        return with_neighbours(path, _File(FileLayer(text)).read())

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        return edit_words(deployment, operations)


dialect = _Dockerfile()
