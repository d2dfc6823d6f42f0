"""One engine process as a YAML mapping describes it: command, arguments, variables, image."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from yaml.nodes import Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import Deployment, Entrypoint, Kind, OptionSite, ReleaseHint
from appliance.migrations.dialects.arg_list import ArgList, Item, read_items
from appliance.migrations.dialects.arg_texts import Started, options_text, started
from appliance.migrations.dialects.env_reader import EnvReader, Variables, speaks
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.serving import (
    PIN,
    engine_image,
    engine_options,
    image_hint,
    model_of,
    other_command,
    other_engine,
    pin_hint,
    script,
    serves,
)
from appliance.migrations.dialects.shell_words import texts
from appliance.migrations.dialects.wishes import Homes, Sink
from appliance.migrations.dialects.wrappers import Wrapper, reaching, wrapper_of
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import get, text_of
from appliance.migrations.values import templated

_PROGRAM = re.compile(r"(?:\A|/)python[\d.]*\Z")


class Reader(EnvReader):
    """Reads the processes of one file."""

    def process(
        self,
        node: Node,
        label: str = "",
        command: Sequence[str] = ("command", "args"),
        env: str = "env",
        image: str | None = None,
        model: str | None = None,
        certain: bool = False,
        hint: ReleaseHint | None = None,
        files: Node | None = None,
        variables: Node | None = None,
        wrapper: Wrapper | None = None,
        around: Sequence[Node | None] = (),
    ) -> list[Deployment]:
        """certain: this is known to be an engine, whatever the image. files: names of files with variables.

        variables: the environment where it does not stand in the mapping itself. wrapper: the server that starts it.
        around: environments further out, the nearest first.
        """
        picture = image if image is not None else text_of(get(node, "image"))
        release = hint or self.pinned([get(node, key) for key in command]) or self.hint(get(node, "image"))
        variables = variables or get(node, env)
        engines = self._engines([get(node, key) for key in command], picture, certain)
        wrapper = wrapper or wrapper_of(picture)
        if wrapper is not None:
            engines = [wrapped for engine in engines if (wrapped := _wrapped(engine, wrapper)).sites]
        near = self.variables(variables) if engines or certain or speaks(self.layer, variables) else Variables()
        if not engines:
            if not near.sites or other_engine(picture):
                return []
            engines = [Engine(None, (), Entrypoint.IMAGE)]
        for further in around:
            self.widen(near, further)
        outside = self.outside(get(node, "envFrom"), files, near)
        found = []
        for index, engine in enumerate(engines):
            sites = (*_lent(near.sites, index > 0), *engine.sites)
            shared = engine.shared | (frozenset([id(near.sink)]) if near.shared else frozenset())
            homes = Homes(engine.sink, near.sink, shared)
            found.append(
                Deployment(
                    sites,
                    engine.entrypoint,
                    label,
                    model_of(engine.sites, near.sites) or engine.model or model,
                    release,
                    takes_options=engine.sink is not None,
                    takes_env=near.sink is not None,
                    handle=homes,
                    elsewhere=outside.elsewhere,
                )
            )
        return found

    def pinned(self, nodes: Iterable[Node | None]) -> ReleaseHint | None:
        """What a script installs before it starts the engine; that counts, whatever is in the image."""
        for node in nodes:
            for part in node.value if isinstance(node, SequenceNode) else [node]:
                inlay = decode(self.layer, part) if isinstance(part, ScalarNode) and "install" in part.value else None
                found = PIN.search(inlay.text) if inlay else None
                if inlay and found:
                    return pin_hint(found.group(), span(inlay, *found.span()))
        return None

    def _engines(self, nodes: Sequence[Node | None], image: str, certain: bool) -> list["Engine"]:
        present = [node for node in nodes if node is not None and not _null(node)]
        if not present:
            return []
        scalars = [node for node in present if isinstance(node, ScalarNode)]
        entry: Entrypoint | None = None
        if len(scalars) == len(present) == 2 and (entered := self._scripts(scalars[:1])):
            behind = self._option_text(scalars[1:], image, True)
            first = entered[0]
            whole = [replace(one, sites=(*first.sites, *one.sites), entrypoint=first.entrypoint) for one in behind]
            return [replace(one, model=first.model or one.model) for one in whole] or entered
        if scalars:
            engines = self._scripts(scalars)
            if engines:
                rest = present[1:] if scalars[0] is present[0] and isinstance(present[-1], SequenceNode) else []
                if not rest:
                    return engines
                entry = engines[0].entrypoint
                present = rest
            elif isinstance(present[-1], ScalarNode):
                return self._option_text(present, image, certain)
        return self._lists([node for node in present if isinstance(node, SequenceNode)], image, certain, entry)

    def _scripts(self, nodes: Iterable[ScalarNode]) -> list["Engine"]:
        found = []
        for node in nodes:
            inlay = decode(self.layer, node)
            if inlay is None or "vllm" not in inlay.text:
                continue
            borrowed = self.borrowed(node)
            found += self._started(inlay, node, borrowed)
        return found

    def _started(self, inlay: Layer, node: Node, borrowed: bool) -> list["Engine"]:
        return [
            Engine(one.sink, sites, one.entrypoint, frozenset([id(one.sink)] if borrowed else []))
            for one, sites in engines_of(inlay, self.layer, node.start_mark.index, borrowed)
        ]

    def _option_text(self, nodes: Sequence[Node], image: str, certain: bool) -> list["Engine"]:
        """A text of arguments for an entrypoint that stands in another list, or in the image."""
        ahead = [item.text for node in nodes[:-1] for item in read_items(self.layer, node)]
        behind = serves(ahead)
        inlay = decode(self.layer, nodes[-1])
        if inlay is None:
            return []
        sink = options_text(inlay, self.layer, nodes[-1].start_mark.index)
        listed = texts(sink.command)
        if not (behind or certain or engine_options(listed) or (engine_image(image) and not ahead)):
            return []
        if other_engine(image):
            return []
        borrowed = self.borrowed(nodes[-1])
        shared = frozenset([id(sink)] if borrowed else [])
        served = ahead[behind[0]] if behind and ahead[behind[0] :] else ""
        model = served if served[:1] != "-" and not templated(served) else ""
        entry = behind[1] if behind else Entrypoint.IMAGE
        return [Engine(sink, tuple(sink.sites(borrowed, model=not served)), entry, shared, model)]

    def _lists(
        self, nodes: Sequence[SequenceNode], image: str, certain: bool, entry: Entrypoint | None
    ) -> list["Engine"]:
        parts = [(node, read_items(self.layer, node)) for node in nodes]
        listed = [item for _, part in parts for item in part]
        words = [item.text for item in listed]
        if other_command(words):
            return []
        inside = script(words)
        if inside is not None:
            item = listed[inside]
            borrowed = self.borrowed(item.node)
            return self._started(item.inlay, item.node, borrowed)
        begins = serves(words)
        if begins is None and len(words) == 1 and " " in words[0]:
            engines = self._started(listed[0].inlay, listed[0].node, self.borrowed(listed[0].node))
            if engines:
                return engines
        if other_engine(image) or (begins is None and any(other_engine(word) for word in words if word[:1] != "-")):
            return []
        if begins is not None:
            return [self._list(listed, begins[0], begins[1], nodes)]
        own = parts[-1][1] if parts else []
        program = any(_PROGRAM.search(word) for word in words)
        named = engine_image(image) and len(parts) == 1 and any(word[:1] == "-" for word in words) and not program
        if not (entry or certain or named or engine_options(item.text for item in own)):
            return []
        start = len(listed) - len(own)
        return [self._list(listed, start, entry or Entrypoint.IMAGE, nodes)]

    def _list(self, listed: list[Item], start: int, entry: Entrypoint, nodes: Sequence[SequenceNode]) -> "Engine":
        sink = ArgList(self.layer, listed[start:], nodes[-1])
        again = [self.borrowed(node) for node in nodes]
        borrowed = again[-1]
        sites = reaching(entry, sink.sites(borrowed))
        return Engine(sink, tuple(sites), entry, frozenset([id(sink)] if borrowed else []))

    def texts(self, nodes: Iterable[Node | None], env: Node | None, label: str, **facts: object) -> list[Deployment]:
        """The engines that shell texts start, all with the same environment."""
        engines = self._scripts([node for node in nodes if isinstance(node, ScalarNode)])
        around = self.variables(env) if engines else Variables()
        shared = frozenset([id(around.sink)] if around.shared else [])
        return [
            Deployment(
                (*_lent(around.sites, index > 0), *engine.sites),
                engine.entrypoint,
                label,
                model_of(engine.sites, around.sites) or facts.get("model"),  # type: ignore[arg-type]
                facts.get("release"),  # type: ignore[arg-type]
                takes_env=around.sink is not None,
                handle=Homes(engine.sink, around.sink, shared | engine.shared),
            )
            for index, engine in enumerate(engines)
        ]


@dataclass(frozen=True, slots=True)
class Engine:
    sink: Sink | None
    sites: tuple[OptionSite, ...]
    entrypoint: Entrypoint
    shared: frozenset[int] = frozenset()
    model: str = ""


def _wrapped(engine: Engine, wrapper: Wrapper) -> Engine:
    model = wrapper.model_of(engine.sites) or engine.model
    return replace(engine, sites=wrapper.engine(engine.sites), model=model)


def engines_of(
    inlay: Layer, outer: Layer, anchor: int, borrowed: bool
) -> Iterator[tuple[Started, tuple[OptionSite, ...]]]:
    """The engines that a text starts with their sites; what they export together, the first one edits."""
    lent: set[int] = set()
    for one in started(inlay, outer, anchor):
        sites: list[OptionSite] = []
        for sink in one.before:
            own = [site for site in sink.sites(borrowed) if site.kind is Kind.ENV and site.name not in one.held]
            sites += _lent(own, id(sink) in lent)
            lent.add(id(sink))
        options = one.sites(borrowed)
        for sink in one.more:
            options += _lent(sink.sites(borrowed, model=False), id(sink) in lent)
            lent.add(id(sink))
        yield one, (*sites, *reaching(one.entrypoint, options))


def _lent(sites: list[OptionSite], lent: bool) -> list[OptionSite]:
    """The sites as another engine's: it reads them, the first one edits them."""
    return [replace(site, handle=replace(site.handle, borrowed=True)) for site in sites] if lent else sites


def _null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.style and node.value in ("", "null", "~")


def chart_hint(reader: Reader, node: Node | None) -> ReleaseHint | None:
    """An image as charts have it, `repository` and `tag`."""
    tag = get(node, "tag")
    inlay = decode(reader.layer, tag) if tag is not None else None
    return (
        image_hint(f"{text_of(get(node, 'repository'))}:{inlay.text}", span(inlay, 0, len(inlay.text)))
        if inlay
        else None
    )
