"""Deployments from word lists: where the engine starts among the words, its options, variables and image."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from appliance.migrations.canonical import (
    UNKNOWN,
    Deployment,
    Elsewhere,
    Entrypoint,
    Form,
    OptionSite,
    Quirk,
    ReleaseHint,
)
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects.launch import BROUGHT, SETTING, Launch, container, container_tool, launch
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.outside import Around, Variables, env_file
from appliance.migrations.dialects.pieces import Piece, Remark, WordList
from appliance.migrations.dialects.serving import TAGGED, image_hint, model_of
from appliance.migrations.dialects.word_sites import Place, env_site, read_list
from appliance.migrations.dialects.wrappers import reaching
from appliance.migrations.release import Release
from appliance.migrations.values import parse

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\})\Z")
_PARTS = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-[^}]*)?\})")
_PYTHON = re.compile(r"(?:\A|/)(python(3\.\d+))\Z")
_DEFAULT = re.compile(r"\"?\$\{\w+:?-([^}]*)\}\"?\Z")


@dataclass(eq=False)
class Home:
    """Where a deployment takes new words. env: the list and the word index in front of which variables go.

    env_line: layer, offset and pattern of a new line for a variable, where the format has such lines.
    """

    words: WordList
    last: int
    env: tuple[WordList, int] | None = None
    docker: bool = False
    env_line: tuple[Layer, int, str] | None = None
    remark: Remark | None = None
    block: Any = None
    """The body of the script in which the command stands."""


@dataclass
class Draft:
    entrypoint: Entrypoint
    home: Home
    sites: list[OptionSite]
    label: str = ""
    release: ReleaseHint | None = None
    python: ReleaseHint | None = None
    positional: bool = True
    elsewhere: tuple[Elsewhere, ...] = ()
    taken: set[tuple[WordList, int]] = field(default_factory=set)

    def finished(self, literal: "dict[str, str]") -> Deployment:
        model = model_of(self.sites)
        for site in self.sites:
            found = _VARIABLE.match(site.raw_value or "") if site.name == "model" and not model else None
            model = literal.get(found[1] or found[2]) if found else model
        label = self.label or model or ""
        return Deployment(
            tuple(self.sites),
            self.entrypoint,
            label,
            model,
            self.release,
            self.python,
            handle=self.home,
            elsewhere=self.elsewhere,
        )


@dataclass
class Seen:
    """What the readers of one file have read: sites that a deployment edits, and the sites of each list.

    path: of the file, empty where it has none. sourced: files of variables that it reads itself.
    """

    path: str = ""
    sourced: Around = field(default_factory=Around)
    sites: dict[int, OptionSite] = field(default_factory=dict)
    lists: dict[tuple[WordList, int], list[OptionSite]] = field(default_factory=dict)


class WordsReader:
    """literals: variables that hold one known text wherever they are used."""

    def __init__(self, layer: Layer, remark: Remark | None = None, seen: "Seen | None" = None) -> None:
        self.layer = layer
        self.literals: dict[str, str] = {}
        self._remark = remark
        self._drafts: list[Draft] = []
        self._seen = Seen() if seen is None else seen

    def _inside(self, piece: Piece) -> list[WordList]:
        """Options that stand in the word itself, to be used only sometimes."""
        return []

    def _options_of(self, name: str) -> list[WordList]:
        """The arrays and option strings that a variable is made of."""
        return []

    def _origin(self, name: str) -> tuple[tuple[WordList, int, int] | None, str]:
        """Where a literal can be changed, or why it cannot."""
        return None, f"its value comes from ${name}; change it there"

    def _share(self, draft: Draft) -> None:
        """Exported variables and arrays belong to every command behind them, but only one deployment edits them."""
        for index, site in enumerate(draft.sites):
            if id(site) in self._seen.sites and isinstance(site.handle, Place):
                draft.sites[index] = replace(site, handle=replace(site.handle, borrowed=True))
            self._seen.sites[id(site)] = site

    def _word(self, piece: Piece) -> str:
        """The word, followed through a variable that holds one."""
        if not piece.opaque:
            return piece.text
        if piece.variable and piece.variable in self.literals:
            return self.literals[piece.variable]
        default = _DEFAULT.match(piece.text)
        return default[1] if default else piece.text

    def start(
        self,
        words: WordList,
        assignments: int,
        remark: Remark,
        env: Callable[[], Sequence[OptionSite]] = tuple,
        ahead: Sequence[str] = (),
    ) -> Draft | None:
        """The deployment that these words start, if they do. env: the variables around it, asked for only then.

        ahead: words of a container tool in front of them, which name no image.
        """
        texts = [self._word(piece) for piece in words.pieces]
        tool = container_tool([*ahead, *texts], assignments) is not None
        brought = {i: lists for i, p in enumerate(words.pieces) if tool and (lists := self._brings(p, words))}
        found = launch([*ahead, *(BROUGHT if i in brought else text for i, text in enumerate(texts))], assignments)
        if found is None:
            return None
        found = found.behind(len(ahead))
        words.remark = self._remark or remark
        settings = [at for at in found.settings if SETTING.match(words.pieces[at[0]].text, at[1])]
        sites = [env_site(words, *at) for at in settings]
        for index, lists in brought.items():
            if found.image is not None and index < found.image:
                sites += [site for one in lists for site in self._given(one)]
        sites[:0] = env() if found.image is None else [site for site in env() if site.name in found.passed]
        outside = Around(found=[*self._seen.sourced.found, *(self._file(words, *at) for at in found.files)])
        sites[:0] = outside.sites(site.name for site in sites)
        image = found.image
        env_at = (words, assignments if image is None else max(image, 0))
        home = Home(words, len(texts) - 1, env_at, image is not None, remark=words.remark)
        hint = self._image(words, found) if found.image is not None else self._image_in_front(words, found.start)
        draft = Draft(found.entrypoint, home, sites, found.name, hint, self._python(words, found.start))
        draft.elsewhere = outside.elsewhere
        draft.positional = found.entrypoint.takes_word
        start = found.start
        if found.entrypoint is Entrypoint.IMAGE and texts[start : start + 1] == ["serve"]:
            site = read_list(words, start, start + 1, True)[0]
            draft.sites.append(replace(site, quirk=Quirk.SERVE_WORD))
            start += 1
        self._take(draft, words, start, len(texts))
        self._drafts.append(draft)
        return draft

    def _brings(self, piece: Piece, words: WordList) -> list[WordList]:
        """The options of a container tool that a variable stands for."""
        return [other for other in self._options_of(piece.variable) if other is not words] if piece.variable else []

    def _given(self, words: WordList) -> list[OptionSite]:
        """The variables among a container's options."""
        listed = container(["run", *(piece.text for piece in words.pieces)], 0).settings
        places = [(index - 1, start) for index, start in listed]
        return [env_site(words, *at) for at in places if SETTING.match(words.pieces[at[0]].text, at[1])]

    def _file(self, words: WordList, index: int, start: int) -> Variables:
        """The file of variables that a word names."""
        piece = words.pieces[index]
        inlay = piece.inlay(words.layer, words.syntax)
        written = self._word(piece)[start:] if not start or not piece.opaque else piece.text[start:]
        return env_file(self._seen.path, written, "--env-file", span(inlay, start, len(piece.text)))

    def _image(self, words: WordList, found: Launch) -> ReleaseHint | None:
        assert found.image is not None
        piece = words.pieces[found.image]
        return image_hint(self._expanded(piece), span(self.layer, piece.start, piece.end))

    def _expanded(self, piece: Piece) -> str:
        """The word with the variables that hold one known text."""
        return _PARTS.sub(lambda found: self.literals.get(found[1] or found[2], found.group()), self._word(piece))

    def _image_in_front(self, words: WordList, behind: int) -> ReleaseHint | None:
        """An image with a tag among the words in front, whatever program of the cluster takes it."""
        for piece in words.pieces[:behind]:
            word = self._expanded(piece)
            hint = image_hint(word, span(self.layer, piece.start, piece.end)) if TAGGED.search(word) else None
            if hint is not None and hint.release is not None:
                return hint
        return None

    def _python(self, words: WordList, behind: int) -> ReleaseHint | None:
        """The interpreter's version where its name tells."""
        for piece in words.pieces[:behind]:
            found = _PYTHON.search(piece.text)
            if found:
                return ReleaseHint(
                    found[1], Release.parse(found[2]), span(words.layer, piece.start, piece.end), "command"
                )
        return None

    def _take(self, draft: Draft, words: WordList, first: int, last: int) -> None:
        """The option sites of some words, and of the arrays and strings that stand among them as variables."""
        begin = first
        for index in range(first, last + 1):
            piece = words.pieces[index] if index < last else None
            lists = self._inside(piece) if piece and piece.opaque else []
            lists = lists or (self._options_of(piece.variable) if piece and piece.variable else [])
            if piece is not None and not lists:
                continue
            self._read(draft, words, begin, index)
            begin = index + 1
            for inner in (other for other in lists if other is not words):
                self._read(draft, inner, 0, len(inner.pieces))

    def _read(self, draft: Draft, words: WordList, first: int, last: int) -> None:
        if (words, first) in draft.taken:
            return
        draft.taken.add((words, first))
        sites = self._seen.lists.get((words, first))
        if sites is None:
            listed = reaching(draft.entrypoint, read_list(words, first, last, draft.positional))
            sites = [self._followed(site) for site in listed]
            self._seen.lists[words, first] = sites
        if any(site.form is Form.POSITIONAL for site in sites):
            draft.positional = False
        draft.sites += sites

    def _followed(self, site: OptionSite) -> OptionSite:
        """A variable that holds one known text is followed where the option takes only certain values."""
        place: Place = site.handle
        piece = place.words.pieces[place.last]
        name = piece.variable
        if site.value is not UNKNOWN or name not in self.literals or site.path or site.form is Form.POSITIONAL:
            return site
        entry = catalogue().options.get(site.name)
        facts = entry.nearest(len(catalogue().releases) - 1) if entry else None
        if facts is None or not facts.values or place.last != place.first + 1:
            return site
        origin, fixed = self._origin(name)
        value = parse(self.literals[name], facts)
        place = replace(place, origin=origin, fixed=fixed)
        return replace(site, value=value, handle=place)
