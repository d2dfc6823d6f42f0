"""The environment of a process in YAML: its own variables, those of other files and of ConfigMaps."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import UNKNOWN, Elsewhere, Kind, OptionSite, ReleaseHint, Span, Value
from appliance.migrations.dialects.arg_texts import options_text
from appliance.migrations.dialects.env_sinks import EnvMap, env_sink
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.outside import Around, configured, env_file
from appliance.migrations.dialects.serving import engine_options, engine_variable, image_hint
from appliance.migrations.dialects.wishes import Sink
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import entries, get, items, text_of
from appliance.migrations.values import templated


@dataclass
class Variables:
    sites: list[OptionSite] = field(default_factory=list)
    sink: Sink | None = None
    shared: bool = False
    elsewhere: list[Elsewhere] = field(default_factory=list)


@dataclass
class EnvReader:
    """Reads the variables of one file; remembers what it has seen, since anchors bring the same node again.

    path: of the file, empty where it has none. objects: the data of its ConfigMaps and Secrets, by kind and name.
    referred: values of these that single variables have been given.
    """

    layer: Layer
    path: str = ""
    seen: set[int] = field(default_factory=set)
    referred: set[int] = field(default_factory=set)
    objects: Mapping[tuple[str, str], MappingNode] = field(default_factory=dict)

    def borrowed(self, node: Node | None) -> bool:
        if node is None:
            return False
        again = id(node) in self.seen
        self.seen.add(id(node))
        return again

    def hint(self, node: Node | None) -> ReleaseHint | None:
        """From an image's name."""
        inlay = decode(self.layer, node) if node is not None else None
        return image_hint(inlay.text, span(inlay, 0, len(inlay.text))) if inlay else None

    def variables(self, node: Node | None) -> Variables:
        """The environment: a mapping (with what is merged into it), a list, or nothing."""
        found = Variables()
        sources = [node, *_merged(node)] if isinstance(node, MappingNode) else [node]
        names: set[str] = set()
        for source in sources:
            sink = env_sink(self.layer, source)
            if sink is None:
                continue
            borrowed = self.borrowed(source)
            if found.sink is None and not (isinstance(sink, EnvMap) and source is not node):
                found.sink = sink
                found.shared = borrowed
            for site in sink.sites(borrowed):
                if site.name in names:
                    continue
                names.add(site.name)
                site, node = self._referred(site, found.elsewhere)
                again = self.borrowed(node) if node is not None else borrowed
                options = self._options_in(site, node or _value(site, source), again)
                found.sites += options or [site]
        return found

    def _referred(self, site: OptionSite, elsewhere: list[Elsewhere]) -> tuple[OptionSite, Node | None]:
        """The site with the value that its `configMapKeyRef` names, and where that stands in this file."""
        first = site.handle.place.first
        reference = get(first, "valueFrom", "configMapKeyRef") if isinstance(first, MappingNode) else None
        named, key = get(reference, "name"), text_of(get(reference, "key"))
        inlay = decode(self.layer, named) if named is not None else None
        if inlay is None:
            return site, None
        node = get(self.objects.get(("ConfigMap", inlay.text)), key)
        if node is not None:
            self.referred.add(id(node))
            said = decode(self.layer, node)
            return _saying(site, said.text if said else None), node
        place = span(inlay, 0, len(inlay.text))
        outside = configured(self.path, "ConfigMap", inlay.text, place)
        if key in outside.values:
            return _saying(site, outside.values[key]), None
        if site.name.startswith("VLLM_"):
            elsewhere.append(replace(outside.place, name=f"{inlay.text} ({key})", read=False))
        return site, None

    def widen(self, near: Variables, node: Node | None) -> None:
        """Adds the variables of an environment further out, which those nearer by win over."""
        further = self.variables(node)
        names = {site.name for site in near.sites}
        near.sites[:0] = [site for site in further.sites if site.name not in names]
        if near.sink is None:
            near.sink, near.shared = further.sink, further.shared

    def _options_in(self, site: OptionSite, node: Node | None, borrowed: bool) -> list[OptionSite]:
        """A variable that hands options to the command line of an image: `VLLM_ADDITIONAL_ARGS: --enable-x`."""
        text = site.raw_value or ""
        if not text.lstrip().startswith("--") or not engine_options(text.split()):
            return []
        inlay = decode(self.layer, node) if node is not None else None
        if node is None or inlay is None or inlay.text != text:
            return []
        return options_text(inlay, self.layer, node.start_mark.index).sites(borrowed, model=False)

    def outside(self, references: Node | None, files: Node | None, around: Variables) -> Around:
        """Adds the variables of other files and objects to those that stand in the process itself."""
        outside = Around(around.elsewhere)
        for item in [files] if isinstance(files, ScalarNode) else items(files):
            named = get(item, "path") if isinstance(item, MappingNode) else item
            inlay = decode(self.layer, named) if named is not None else None
            if inlay is not None:
                place = span(inlay, 0, len(inlay.text))
                outside.found.append(env_file(self.path, inlay.text, "env_file", place))
        inside: list[OptionSite] = []
        for item in items(references):
            for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                named = get(item, key, "name")
                if not isinstance(named, ScalarNode):
                    continue
                data = self.objects.get((kind, named.value))
                if data is not None:
                    taken = self.variables(data).sites
                    inside += [site for site in taken if site.kind is Kind.OPTION or engine_variable(site.name)]
                else:
                    inlay = decode(self.layer, named)
                    place = span(inlay, 0, len(inlay.text)) if inlay else Span(0, 0)
                    outside.found.append(configured(self.path, kind, named.value, place))
        near = {site.name for site in around.sites}
        around.sites[:0] = [site for site in inside if site.name not in near]
        around.sites[:0] = outside.sites({site.name for site in around.sites})
        return outside


def _value(site: OptionSite, source: Node | None) -> Node | None:
    """Where the value of a variable stands."""
    member = site.handle.place
    return get(member.first, "value") if isinstance(source, SequenceNode) else member.last


def _saying(site: OptionSite, text: str | None) -> OptionSite:
    value: Value = UNKNOWN if text is None or templated(text) else text
    return replace(site, value=value, raw_value=text)


def _merged(node: MappingNode) -> list[Node]:
    found: list[Node] = []
    for key, value in node.value:
        if isinstance(key, ScalarNode) and key.value == "<<" and not key.style:
            found += value.value if isinstance(value, SequenceNode) else [value]
    return [item for item in found if isinstance(item, MappingNode)]


def speaks(layer: Layer, node: Node | None) -> bool:
    """Whether an environment holds variables of the engine."""
    if isinstance(node, MappingNode):
        return any(key.value.startswith("VLLM_") for key, _ in entries(node))
    sink = env_sink(layer, node)
    return sink is not None and any(site.name.startswith("VLLM_") for site in sink.sites())
