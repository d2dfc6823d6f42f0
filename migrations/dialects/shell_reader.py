"""Deployments in a shell text: its commands, the variables, arrays and here-documents that feed them."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from appliance.migrations.canonical import Deployment, OptionSite, ReleaseHint
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.bash_tree import Assignment, Command, Script, read_script
from appliance.migrations.dialects.embedded import body, embedded
from appliance.migrations.dialects.exports import Exports, distinct
from appliance.migrations.dialects.launch import NESTED, SETTING, container, container_tool, launch, talks
from appliance.migrations.dialects.layers import Inlay, Layer, part, span
from appliance.migrations.dialects.lines import tokens
from appliance.migrations.dialects.outside import env_file
from appliance.migrations.dialects.pieces import Piece, Remark, WordList
from appliance.migrations.dialects.pins import pin_in
from appliance.migrations.dialects.quoting import ARRAY, SHELL, SPLIT
from appliance.migrations.dialects.shell_exports import cut_at_blanks, exported, set_for_one
from appliance.migrations.dialects.word_sites import Place, env_site
from appliance.migrations.dialects.words_reader import Draft, Seen, WordsReader
from appliance.migrations.values import templated

_DEPTH = 4
_SETTERS = re.compile(r"\b(?:read|for|getopts|unset|mapfile|readarray|local)\b([^\n;]*)")
_BLANK = re.compile(r"[\s\\]*")
_WHEN_SET = re.compile(r"\$\{\w+:?\+\s*([\"']?-[^{}]*?)\s*\}\Z")
_USE = re.compile(r"\$\{?(\w+)")
_WORDS = re.compile(r"(?:\\\r?\n|\s)*((?:\\[^\r\n]|[^\s\\])+)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\})\Z")
_SOURCE = re.compile(r"^[ \t]*(?:source|\.)[ \t]+([^\s;&|]+)", re.MULTILINE)
_ENDINGS = (".env", "env", ".conf", ".cfg")


class ShellReader(WordsReader):
    """Reads one layer; texts inside its quotes and here-documents are read by readers of their own."""

    def __init__(
        self,
        layer: Layer,
        remark: Remark | None = None,
        depth: int = 0,
        seen: Seen | None = None,
        outer: "ShellReader | None" = None,
    ) -> None:
        super().__init__(layer, remark, seen)
        self.script: Script = read_script(layer)
        self._depth = depth
        self._outer = outer
        self._nested: list[Deployment] = []
        self._by_name: dict[str, list[Assignment]] = {}
        for assignment in self.script.assignments:
            self._by_name.setdefault(assignment.name, []).append(assignment)
        self.literals = dict(self._literals())
        if not depth:
            self._source()
        self._lists: dict[str, list[WordList]] = {}
        self._started: dict[str, Draft] = {}
        self._ready: set[int] = set()
        self._arrays: dict[int, WordList] = {}
        self._counted: Counter[str] | None = None

    def take_from(self, around: WordsReader, lists: Mapping[str, list[WordList]]) -> None:
        """Variables that the file around the shell text holds."""
        self.literals = {**around.literals, **self.literals}
        self._lists.update(lists)

    def read(self, env: Sequence[OptionSite] = ()) -> list[Deployment]:
        known = Exports(env, self._exports())
        order: list[tuple[int, Assignment | Command]] = [(a.whole.start, a) for a in self.script.assignments]
        order += [(c.pieces[0].start, c) for c in self.script.commands if c.pieces]
        for _, item in sorted(order, key=lambda pair: pair[0]):
            before = len(self._drafts)
            known.reach(self._at(item))
            if isinstance(item, Command):
                self._command(item, known)
            elif item.items or "vllm" in item.whole.text:
                self._assigned(item, known)
            for draft in self._drafts[before:]:
                draft.home.block = draft.home.block or item.statement.block
                if id(draft) not in self._ready:
                    self._share(draft)
        found = [draft.finished(self.literals) for draft in self._drafts] + self._nested
        others = list(embedded(self.layer.text, self.script)) if not self._depth else []
        written = {site.element.start for deployment in others for site in deployment.sites}
        for heredoc in self.script.heredocs:
            if any(heredoc.start <= start <= heredoc.end for start in written):
                continue
            if self._depth < _DEPTH and NESTED.search(self.layer.text, heredoc.start, heredoc.end):
                inner = body(self.layer, heredoc)
                found += ShellReader(inner, None, self._depth + 1, self._seen).read()
        found += others
        hint = self.pin()
        return [replace(d, release=hint) if d.release is None and hint else d for d in distinct(found)]

    def settings(self) -> list[OptionSite]:
        """The variables alone, exported or set for one command, for a file that does not start the engine itself."""
        return [*self._exports(), *set_for_one(self.layer, read_script(self.layer, every=True), self._remark)]

    def pin(self) -> ReleaseHint | None:
        return pin_in(self.layer)

    def _source(self) -> None:
        """Files of variables that the script reads: `source .env`, `. ./config.env`."""
        for found in _SOURCE.finditer(self.layer.text):
            place = span(self.layer, *found.span(1))
            variables = env_file(self._seen.path, found[1].strip("\"'"), "source", place)
            if variables.place.read or found[1].strip("\"'").endswith(_ENDINGS):
                self._seen.sourced.found.append(variables)
        known = self._seen.sourced.values
        self.literals |= {name: value for name, value in known.items() if name not in self._by_name}

    def _at(self, item: Command | Assignment) -> int:
        piece = item.pieces[0] if isinstance(item, Command) else item.whole
        return self.layer.bounds(piece.start, piece.end)[0]

    def _literals(self) -> Iterable[tuple[str, str]]:
        """Variables that hold one known text wherever they are used."""
        elsewhere = {name for line in _SETTERS.findall(self.layer.text) for name in line.split()}
        for name, found in self._by_name.items():
            only = found[0]
            if len(found) > 1 or only.appends or only.items is not None or only.whole.opaque:
                continue
            if only.statement.block is self.script.top and name not in elsewhere:
                yield name, only.whole.text[len(name) + 1 :]

    def _uses(self) -> Counter[str]:
        if self._counted is None:
            self._counted = Counter(_USE.findall(self.layer.text))
        return self._counted

    def _inside(self, piece: Piece) -> list[WordList]:
        """The words of `${NAME:+--option value}`."""
        found = _WHEN_SET.match(self.layer.text, piece.start, piece.end)
        if not found:
            return []
        start, end = found.span(1)
        return [WordList(self.layer, tokens(self.layer.text, start, end), SHELL, start, end, self._remark)]

    def _options_of(self, name: str) -> list[WordList]:
        """The arrays and option strings that a variable is made of, in this text or the one around it."""
        if self._outer is not None and name not in self._by_name and name not in self._lists:
            return self._outer._options_of(name)
        if name not in self._lists:
            lists = [self._list(assignment) for assignment in self._by_name.get(name, ())]
            self._lists[name] = [words for words in lists if words and any(p.text[:1] == "-" for p in words.pieces)]
        return self._lists[name]

    def _list(self, assignment: Assignment) -> WordList | None:
        remark = self._remark or assignment.statement.remark
        if assignment.items is not None:
            return self._array(assignment, assignment.items)
        inlay = self._value(assignment)
        text = inlay.text
        if "'" in text or '"' in text:
            commands = read_script(inlay, every=True).commands if self._depth < _DEPTH else []
            pieces: Sequence[Piece] = commands[0].pieces if len(commands) == 1 else ()
            return WordList(inlay, pieces, SHELL, 0, len(text), remark) if pieces else None
        pieces = [_split(text, found.start(1), found.end(1)) for found in _WORDS.finditer(text)]
        if pieces and pieces[0].variable == assignment.name:
            pieces = pieces[1:]
        return WordList(inlay, pieces, SPLIT, 0, len(text), remark)

    def _array(self, assignment: Assignment, items: Sequence[Piece]) -> WordList:
        if id(assignment) not in self._arrays:
            remark = self._remark or assignment.statement.remark
            self._arrays[id(assignment)] = WordList(self.layer, items, ARRAY, *assignment.inside, remark)
        return self._arrays[id(assignment)]

    def _value(self, assignment: Assignment) -> Inlay:
        start = len(assignment.name) + (2 if assignment.appends else 1)
        inlay = assignment.whole.inlay(self.layer, SHELL)
        return part(inlay, min(start, len(inlay.text)), len(inlay.text))

    def _origin(self, name: str) -> tuple[tuple[WordList, int, int] | None, str]:
        if name not in self._by_name:
            return super()._origin(name)
        whole = self._by_name[name][0].whole
        if any(piece.start == whole.start for export in self.script.exports for piece in export.pieces):
            return None, f"its value comes from the exported ${name}; change it there"
        where = WordList(self.layer, (whole,), SHELL, whole.start, whole.end)
        once = self._uses()[name] == 1
        fixed = "" if once else f"its value comes from ${name}, which is used in several places; change it there"
        return (where, 0, len(name) + 1), fixed

    def _exports(self) -> list[OptionSite]:
        return exported(self.layer, self.script, self._by_name, self._remark)

    def _assigned(self, assignment: Assignment, env: Exports) -> None:
        """`CMD=(vllm serve ...)` and `CMD="vllm serve ..."`."""
        if assignment.items is not None:
            if assignment.items:
                words = self._array(assignment, assignment.items)
                draft = self.start(words, 0, assignment.statement.remark, env.take)
                if draft:
                    self._more(assignment.name, draft, assignment)
            return
        value = self._value(assignment) if "vllm" in assignment.whole.text else None
        if value is None or self._depth >= _DEPTH or not NESTED.search(value.text):
            return
        inner = ShellReader(value, self._remark or assignment.statement.remark, self._depth + 1, self._seen, self)
        found = inner.read(env.take())
        if cut_at_blanks(self.layer.text, assignment.name):
            for site in (site for one in found for site in one.sites if isinstance(site.handle, Place)):
                site.handle.words.syntax = SPLIT
        self._nested += found
        if inner._drafts and len(found) == 1:
            self._nested.pop()
            self._drafts += inner._drafts
            self._ready.add(id(inner._drafts[-1]))
            self._more(assignment.name, inner._drafts[-1], assignment)

    def _more(self, name: str, draft: Draft, first: Assignment) -> None:
        """What later lines add to a command kept in a variable."""
        self._started[name] = draft
        for assignment in self._by_name.get(name, ()):
            words = self._list(assignment) if assignment is not first else None
            if words and words.pieces and words.pieces[0].text[:1] == "-":
                self._take(draft, words, 0, len(words.pieces))

    def _command(self, command: Command, env: Exports) -> None:
        pieces = command.pieces
        words = WordList(self.layer, pieces, SHELL, pieces[0].start, pieces[-1].end)
        texts = [piece.text for piece in pieces]
        if talks(texts[command.assignments :]):
            return
        remark = self._remark or command.statement.remark
        for index, piece in enumerate(pieces[command.assignments :], command.assignments):
            if self._depth < _DEPTH and " " in piece.text.strip() and NESTED.search(piece.text):
                inner = piece.inlay(self.layer, SHELL)
                around = [at for at in self._around(texts, command) if SETTING.match(pieces[at[0]].text, at[1])]
                local = [env_site(words, *at) for at in around if pieces[at[0]] is not piece]
                handed = self._handed(texts, command, env)
                found = ShellReader(inner, remark, self._depth + 1, self._seen, self).read([*handed, *local])
                image = self._image_in_front(words, index)
                self._nested += [replace(one, release=one.release or image) for one in found]
                return
        name = pieces[command.assignments].variable if command.assignments < len(pieces) else ""
        if name in self._started:
            self._take(self._started[name], words, command.assignments + 1, len(pieces))
            return
        self._check(command)
        if not self._from_array(command, texts, env):
            self.start(words, command.assignments, remark, env.take)

    def _from_array(self, command: Command, texts: Sequence[str], env: Exports) -> bool:
        """`docker run -d "${ARGS[@]}"`, where the array holds the image and what follows it."""
        run = container_tool(texts, command.assignments)
        image = container(texts, run).image if run is not None else None
        name = command.pieces[image].variable if image is not None else ""
        arrays = [one for one in self._by_name.get(name, ()) if one.items and not one.appends]
        if len(arrays) != 1 or not arrays[0].items:
            return False
        words, remark = self._array(arrays[0], arrays[0].items), arrays[0].statement.remark
        draft = self.start(words, command.assignments, remark, env.take, texts[:image])
        if draft is not None:
            self._more(name, draft, arrays[0])
        return draft is not None

    def _handed(self, texts: Sequence[str], command: Command, env: Exports) -> list[OptionSite]:
        """The shell's variables that reach what the command starts; a container gets those that it asks for."""
        run = container_tool(texts, command.assignments)
        passed = None if run is None else container(texts, run).passed
        return [site for site in env.take() if passed is None or site.name in passed]

    def _around(self, texts: Sequence[str], command: Command) -> list[tuple[int, int]]:
        run = container_tool(texts, command.assignments)
        if run is not None:
            return list(container(texts, run).settings)
        return [(index, 0) for index, text in enumerate(texts) if SETTING.match(text)]

    def _check(self, command: Command) -> None:
        """Refuses a command whose end cannot be told, as behind an unclosed quote."""
        texts = [piece.text for piece in command.pieces]
        errors, text = self.script.errors, self.layer.text
        next_one = bisect_left(errors, (command.pieces[0].start, 0))
        if next_one == len(errors) or launch(texts, command.assignments) is None:
            return
        end, (start, _) = command.pieces[-1].end, errors[next_one]
        blank = _BLANK.match(text, end)
        if start > (blank.end() if blank else end):
            return
        at = max(start, blank.end() if blank and start >= end else start)
        raise DialectError(
            self.layer.bounds(at, at)[0],
            "the shell syntax cannot be read from here on",
            "close the quote or bracket; `bash -n FILE` tells more",
        )


def _split(text: str, start: int, end: int) -> Piece:
    word = text[start:end]
    found = _VARIABLE.match(word)
    opaque = templated(word)
    return Piece(start, end, word, opaque=opaque, variable=(found[1] or found[2]) if found else "")
