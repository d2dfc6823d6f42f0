"""Edits of deployments made of word lists: statements that go as a whole, remarks above, places for what is new."""

import re
from collections.abc import Iterable, Sequence

from appliance.migrations.canonical import Deployment, Edit, Kind
from appliance.migrations.dialects.bash_tree import Block, Statement
from appliance.migrations.dialects.layers import Layer
from appliance.migrations.dialects.pieces import CannotWriteError, WordList, statement_cut
from appliance.migrations.dialects.word_edit import WordEditor, option_words, setting
from appliance.migrations.dialects.word_sites import Place
from appliance.migrations.dialects.words_reader import Home
from appliance.migrations.operations import Add, CannotEditError, Comment, Operation, Remove


def edit_words(deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
    editor = WordEditor()
    remarks: dict[Edit, None] = {}
    for operation in operations:
        site = operation.after if isinstance(operation, Add) else operation.site
        place: Place | None = site.handle if site else None
        if isinstance(operation, Comment):
            if place and place.words.remark and not place.borrowed:
                edit = place.words.remark.edit(operation.text)
                remarks |= {edit: None} if edit else {}
        elif isinstance(operation, Add):
            _reach(operation, deployment.handle)
            if place is None or place.borrowed or not _follows(editor, place, operation):
                _add(editor, deployment, operation, remarks)
        elif place and not place.borrowed:
            if isinstance(operation, Remove):
                _unread(operation, place.words)
            editor.do(operation)
    edits = editor.edits()
    return [*remarks, *edits, *_dropped(editor.emptied)]


def _reach(operation: Add, home: Home | None) -> None:
    """Raises CannotEditError where a variable that becomes an option is not always set when the command runs."""
    site = operation.of
    if site is None or site.source or site.kind is not Kind.ENV or operation.kind is not Kind.OPTION or home is None:
        return
    words: WordList = site.handle.words
    statement: Statement | None = words.statement
    if statement is None:
        return
    elsewhere = not statement.block.top and statement.block is not home.block
    if elsewhere or words.pieces[0].start > statement.start:
        raise CannotEditError(operation, "it is set under a condition, or out of the command's reach")


def _unread(operation: Remove, words: WordList) -> None:
    """Raises CannotEditError where the script uses a variable itself, without which it may stop."""
    site = operation.site
    if site.kind is not Kind.ENV or words.statement is None:
        return
    place: Place = site.handle
    piece = words.pieces[place.last]
    for found in re.finditer(rf"\$(?:{site.name}\b|\{{{site.name}\b(?!:?[-+?=]))", words.layer.text):
        if not piece.start <= found.start() < piece.end:
            raise CannotEditError(operation, f"the script itself reads ${site.name}")


def _follows(editor: WordEditor, place: Place, operation: Add) -> bool:
    """Whether the new option could be put behind the old one: a text without quotes takes no value that needs them."""
    try:
        editor.do(operation)
    except CannotEditError:
        if not place.words.syntax.compact:
            raise
        return False
    return True


def _add(editor: WordEditor, deployment: Deployment, operation: Add, edits: dict[Edit, None]) -> None:
    home: Home | None = deployment.handle
    if home is None:
        raise CannotEditError(operation, "this file starts no engine; add it to the command that does")
    try:
        if operation.kind is Kind.OPTION:
            first, last = _last(deployment, home)
            new = option_words(home.words, operation.name, operation.value, operation.path, equals=False)
            editor.add(home.words, first, last, new, operation)
            return
        if home.env_line is not None:
            layer, offset, pattern = home.env_line
            text = pattern.format(setting(home.words, operation.name, operation.value))
            edits[layer.edit(offset, offset, text + "\n")] = None
            return
        if home.env is None:
            raise CannotWriteError("the command gets its variables from somewhere else")
        words, index = home.env
        new_setting = setting(words, operation.name, operation.value)
        gap = words.gap_of(index) if home.docker else " "
        text = f"-e {new_setting}{gap}" if home.docker else f"{new_setting} "
        edits[words.layer.edit(words.pieces[index].start, words.pieces[index].start, text)] = None
    except CannotWriteError as reason:
        raise CannotEditError(operation, str(reason)) from None


def _last(deployment: Deployment, home: Home) -> tuple[int, int]:
    """The words of the last option of the command itself, or its last word."""
    places = [site.handle for site in deployment.sites if site.kind is Kind.OPTION and site.handle.words is home.words]
    if places and places[-1].last == home.last:
        return places[-1].first, places[-1].last
    return home.last, home.last


def _dropped(lists: Iterable[WordList]) -> list[Edit]:
    """Whole statements go with their line; a body that would be left empty keeps a `:`."""
    gone = [(words.statement.remark.layer, words.statement) for words in lists]
    left: dict[int, int] = {}
    for _, statement in gone:
        left[id(statement.block)] = left.get(id(statement.block), statement.block.statements) - 1
    edits = []
    kept: set[int] = set()
    for layer, statement in gone:
        block: Block = statement.block
        empty = left[id(block)] == 0 and id(block) not in kept and not block.top
        if empty:
            kept.add(id(block))
        edits.append(_drop(layer, statement, empty))
    return edits


def _drop(layer: Layer, statement: Statement, empty: bool) -> Edit:
    cut = None if empty else statement_cut(layer.text, statement.start, statement.end)
    return layer.edit(*cut, "") if cut else layer.edit(statement.start, statement.end, ":")
