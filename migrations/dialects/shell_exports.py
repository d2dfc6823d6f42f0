"""Engine variables that a shell text hands on: `export NAME=value`, or `NAME=value` and then `export NAME`."""

import re
from collections.abc import Mapping, Sequence

from appliance.migrations.canonical import OptionSite
from appliance.migrations.dialects.bash_tree import Assignment, Script, Statement, read_script
from appliance.migrations.dialects.launch import SETTING
from appliance.migrations.dialects.layers import Layer
from appliance.migrations.dialects.pieces import Piece, Remark, WordList
from appliance.migrations.dialects.quoting import SHELL
from appliance.migrations.dialects.serving import engine_variable
from appliance.migrations.dialects.word_sites import env_site


def exported(
    layer: Layer, script: Script, assignments: Mapping[str, Sequence[Assignment]], remark: Remark | None
) -> list[OptionSite]:
    """`assignments` by name; `remark` in place of the statement's own, where the text lies inside another one."""
    found: list[OptionSite] = []
    named: dict[str, None] = {}
    written = {piece.start for export in script.exports for piece in export.pieces}
    for export in script.exports:
        words = _words(layer, export.pieces, remark or export.statement.remark, export.statement)
        for index, piece in enumerate(export.pieces):
            if SETTING.match(piece.text) and engine_variable(piece.text.partition("=")[0]):
                found.append(env_site(words, index))
            elif index and re.fullmatch(r"\w+", piece.text):
                named[piece.text] = None
    for name in named:
        for one in assignments.get(name, ()):
            if one.whole.start in written or one.items is not None or one.appends or not engine_variable(name):
                continue
            found.append(env_site(_words(layer, (one.whole,), one.statement.remark, one.statement), 0))
    return found


def set_for_one(layer: Layer, script: Script, remark: Remark | None) -> list[OptionSite]:
    """What commands get that may start the engine by other means: `VLLM_X=1 python run.py`, `env VLLM_X=1 ...`."""
    found = []
    for command in script.commands:
        pieces, start = command.pieces, command.assignments
        if not start and pieces and pieces[0].text == "env":
            start = next((i for i in range(1, len(pieces)) if not SETTING.match(pieces[i].text)), len(pieces))
        if start == len(pieces):
            continue
        words = WordList(layer, pieces, SHELL, pieces[0].start, pieces[-1].end, remark or command.statement.remark)
        named = ((index, piece.text.partition("=")) for index, piece in enumerate(pieces[:start]))
        found += [env_site(words, index) for index, (name, equals, _) in named if equals and engine_variable(name)]
    return found


def runs(layer: Layer) -> bool:
    """Whether the text starts anything at all."""
    commands = read_script(layer, every=True).commands
    return any(command.assignments < len(command.pieces) for command in commands)


def cut_at_blanks(text: str, name: str) -> bool:
    """Whether a command held in a variable is run as `$CMD`, so that quotes inside it are letters."""
    bare = rf"^[ \t]*(?:exec |nohup |time )?\$\{{?{name}\}}?(?=[\s;&|>]|\Z)"
    return re.search(bare, text, re.MULTILINE) is not None


def _words(layer: Layer, pieces: Sequence[Piece], remark: Remark | None, statement: Statement) -> WordList:
    words = WordList(layer, pieces, SHELL, pieces[0].start, pieces[-1].end, remark)
    words.statement = statement
    return words
