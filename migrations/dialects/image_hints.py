"""The release that an image tells which stands further away from the options: in a script, elsewhere in a document."""

from collections.abc import Iterable, Iterator

from yaml.nodes import MappingNode, Node, ScalarNode

from appliance.migrations.canonical import ReleaseHint
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.process import Reader, chart_hint
from appliance.migrations.dialects.serving import TAGGED, engine_image, image_hint
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import entries, text_of, walk


def of_texts(reader: Reader, nodes: Iterable[Node]) -> ReleaseHint | None:
    """Of the containers that shell texts start, where all are of one release."""
    layers = (decode(reader.layer, node) for node in nodes if isinstance(node, ScalarNode))
    return _only(hint for inlay in layers if inlay is not None for hint in _tagged(inlay))


def of_document(reader: Reader, root: Node) -> ReleaseHint | None:
    """Of every `image`, written whole or as charts do, where all of the engine's are of one release."""
    return _only(hint for mapping in walk(root) for hint in _images(reader, mapping))


def _images(reader: Reader, mapping: MappingNode) -> Iterator[ReleaseHint]:
    for key, value in entries(mapping, merged=False):
        if "image" not in key.value.lower():
            continue
        named = text_of(value)
        hint = chart_hint(reader, value) if isinstance(value, MappingNode) else reader.hint(value)
        if hint is not None and (not named or engine_image(named)):
            yield hint


def _tagged(layer: Layer) -> Iterator[ReleaseHint]:
    for found in TAGGED.finditer(layer.text):
        hint = image_hint(found.group(), span(layer, *found.span()))
        if hint is not None:
            yield hint


def _only(hints: Iterable[ReleaseHint]) -> ReleaseHint | None:
    known = [hint for hint in hints if hint.release is not None]
    return known[0] if known and len({hint.release for hint in known}) == 1 else None
