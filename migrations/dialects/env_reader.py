"""The environment of a process in YAML: its own variables, those of other files and of ConfigMaps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import OptionSite, ReleaseHint, Span
from appliance.migrations.dialects.arg_string import options_text
from appliance.migrations.dialects.env_sinks import EnvMap, env_sink
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.outside import Around, configured, env_file
from appliance.migrations.dialects.serving import engine_options, engine_variable, image_hint
from appliance.migrations.dialects.wishes import Sink
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import entries, get, items


@dataclass
class Variables:
    sites: list[OptionSite] = field(default_factory=list)
    sink: Sink | None = None
    shared: bool = False


@dataclass
class EnvReader:
    """Reads the variables of one file; remembers what it has seen, since anchors bring the same node again.

    path: of the file, empty where it has none. objects: the data of its ConfigMaps and Secrets, by kind and name.
    """

    layer: Layer
    path: str = ""
    seen: set[int] = field(default_factory=set)
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
                options = self._options_in(site, source, borrowed)
                found.sites += options or [site]
        return found

    def widen(self, near: Variables, node: Node | None) -> None:
        """Adds the variables of an environment further out, which those nearer by win over."""
        further = self.variables(node)
        names = {site.name for site in near.sites}
        near.sites[:0] = [site for site in further.sites if site.name not in names]
        if near.sink is None:
            near.sink, near.shared = further.sink, further.shared

    def _options_in(self, site: OptionSite, source: Node | None, borrowed: bool) -> list[OptionSite]:
        """A variable that hands options to the command line of an image: `VLLM_ADDITIONAL_ARGS: --enable-x`."""
        text = site.raw_value or ""
        if not text.lstrip().startswith("--") or not engine_options(text.split()):
            return []
        member = site.handle.place
        node = get(member.first, "value") if isinstance(member.first, MappingNode) else member.last
        inlay = decode(self.layer, node) if node is not None else None
        if node is None or inlay is None or inlay.text != text:
            return []
        return options_text(inlay, self.layer, node.start_mark.index).sites(borrowed, model=False)

    def outside(self, references: Node | None, files: Node | None, around: Variables) -> Around:
        """Adds the variables of other files and objects to those that stand in the process itself."""
        outside = Around()
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
                    inside += [site for site in self.variables(data).sites if engine_variable(site.name)]
                else:
                    inlay = decode(self.layer, named)
                    place = span(inlay, 0, len(inlay.text)) if inlay else Span(0, 0)
                    outside.found.append(configured(self.path, kind, named.value, place))
        near = {site.name for site in around.sites}
        around.sites[:0] = [site for site in inside if site.name not in near]
        around.sites[:0] = outside.sites({site.name for site in around.sites})
        return outside


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
