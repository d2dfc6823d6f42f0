"""`.env` files and systemd's EnvironmentFiles: variables of the engine, and option strings kept in variables."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from appliance.migrations.canonical import Deployment, Edit, Entrypoint, OptionSite
from appliance.migrations.dialects.env_lines import only_settings, setting_lines
from appliance.migrations.dialects.layers import FileLayer, Layer, part
from appliance.migrations.dialects.lines import Logical, line_site, statement
from appliance.migrations.dialects.pieces import Piece, WordList
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.quoting import SHELL, SPLIT
from appliance.migrations.dialects.serving import engine_options, engine_variable, image_hint
from appliance.migrations.dialects.shell_edit import edit_words
from appliance.migrations.dialects.words_reader import Draft, Home, WordsReader
from appliance.migrations.operations import Operation

_SPLIT = re.compile(r"\S+")


class _Variables(WordsReader):
    def __init__(self, layer: Layer) -> None:
        super().__init__(layer)
        self.text = layer.text

    def read(self) -> list[Deployment]:
        sites: list[OptionSite] = []
        lists: list[WordList] = []
        hint = None
        for line, piece in setting_lines(self.text):
            name, _, value = piece.text.partition("=")
            if engine_options(value.split()):
                lists.append(self._options(line, piece, len(name) + 1))
            elif engine_variable(name):
                sites.append(line_site(self.layer, piece, SHELL, statement(self.layer, line.start, line.end)))
            hint = hint or (image_hint(value, sites[-1].element) if "vllm" in value.lower() and sites else None)
        if not sites and not lists:
            return []
        if not lists:
            return [Deployment(tuple(sites), Entrypoint.SERVE, release=hint, takes_options=False)]
        draft = Draft(Entrypoint.SERVE, Home(lists[0], len(lists[0].pieces) - 1), sites, release=hint, positional=False)
        for words in lists:
            self._read(draft, words, 0, len(words.pieces))
        return [draft.finished(self.literals)]

    def _options(self, line: Logical, piece: Piece, start: int) -> WordList:
        inlay = part(piece.inlay(self.layer, SHELL), start, len(piece.text))
        found = [
            Piece(*match.span(), match.group(), opaque="$" in match.group()) for match in _SPLIT.finditer(inlay.text)
        ]
        return WordList(inlay, found, SPLIT, 0, len(inlay.text), statement(self.layer, line.start, line.end).remark)


class _Dotenv:
    name = "dotenv"

    def detect(self, path: str, text: str) -> float:
        name = PurePath(path).name.lower()
        if name == ".env" or name.startswith(".env.") or name.endswith((".env", ".envfile")):
            return 0.9
        return 0.4 if only_settings(text) and ("VLLM" in text or "--" in text) else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        return with_neighbours(path, _Variables(FileLayer(text)).read())

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        return edit_words(deployment, operations)


dialect = _Dotenv()
