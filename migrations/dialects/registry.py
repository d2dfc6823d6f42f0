"""Model registries in YAML and JSON, each of its own shape: lists, texts and mappings that hold engine options."""

import re
from collections.abc import Iterator
from dataclasses import replace

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.argv import name_of
from appliance.migrations.canonical import Deployment, Entrypoint, ReleaseHint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects.arg_list import read_items
from appliance.migrations.dialects.arg_texts import started
from appliance.migrations.dialects.env_reader import Variables
from appliance.migrations.dialects.image_hints import of_document, of_texts
from appliance.migrations.dialects.layers import span
from appliance.migrations.dialects.option_keys import Flavor, OptionKeys
from appliance.migrations.dialects.process import Reader, chart_hint
from appliance.migrations.dialects.serving import engine_keys, engine_options, serves
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import Tree, entries, get, text_of, walk
from appliance.migrations.release import Release

_ARGUMENTS = re.compile(r"args?$|arguments|params|parameters|flags|options|cmd|command|opts", re.IGNORECASE)
_SCRIPTS = re.compile(r"(?:^|[._-])(?:run|shell|scripts?|commands?|exec|execute|start|setup)$", re.IGNORECASE)
_KEYWORDS = re.compile(r"vllm|engine|kwargs|args$|config$|options$|parameters$", re.IGNORECASE)
_ENV = re.compile(r"(?:^|_)env(?:s|ironment|_vars|ironment_variables)?$|^environment|^variables$", re.IGNORECASE)
_MODELS = ("model", "model_id", "model_name", "repo_id", "hf_model", "model_path", "hf_repo", "huggingface_id")
_VERSIONS = ("vllm_version", "min_vllm_version", "engine_version")


def _arguments(tree: Tree, node: Node) -> bool:
    """A list or text of options and nothing else that another program could mean."""
    if isinstance(node, SequenceNode):
        words = [item.text for item in read_items(tree.layer, node)]
    elif isinstance(node, ScalarNode):
        if _starts(tree, node):
            return True
        words = text_of(node).split()
    else:
        return False
    return serves(words) is not None or (bool(words) and words[0].startswith("-") and engine_options(words))


def _all_known(tree: Tree, node: Node) -> bool:
    """Every flag of a list is one of the engine's; enough where the file speaks of the engine elsewhere."""
    flags = [item.text.partition("=")[0] for item in read_items(tree.layer, node) if item.text.startswith("--")]
    return bool(flags) and all(name_of(flag).name in catalogue().options for flag in flags)


def _keywords(key: str, node: Node) -> bool:
    if not isinstance(node, MappingNode):
        return False
    names = [name.value for name, _ in entries(node, merged=False)]
    marked = engine_keys(names)
    return marked > 0 and (_KEYWORDS.search(key) is not None or marked > 1)


def _scripts(tree: Tree, node: Node) -> bool:
    """A shell text that starts the engine, or a list of such texts."""
    listed = node.value if isinstance(node, SequenceNode) else [node]
    return any(_starts(tree, item) for item in listed)


def _starts(tree: Tree, node: Node) -> bool:
    inlay = decode(tree.layer, node) if "vllm" in text_of(node) else None
    return inlay is not None and bool(started(inlay, tree.layer, node.start_mark.index))


def _found(tree: Tree) -> Iterator[tuple[MappingNode, str, Node]]:
    """Mapping, key and value of everything that holds options."""
    for root in tree.roots:
        for mapping in walk(root):
            for key, value in entries(mapping, merged=False):
                listed = _ARGUMENTS.search(key.value) and _arguments(tree, value)
                if listed or _keywords(key.value, value) or (_SCRIPTS.search(key.value) and _scripts(tree, value)):
                    yield mapping, key.value, value


def _certainty(tree: Tree) -> float:
    return 0.3 if next(_found(tree), None) else 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    sure = list(_found(tree))
    known = {id(value) for _, _, value in sure}
    found = []
    for root in tree.roots:
        names, above, image = _names(root), _above(root), of_document(reader, root)
        around: dict[int, Node] = {}
        for mapping in walk(root):
            for key, value in entries(mapping, merged=False):
                more = isinstance(value, SequenceNode) and _ARGUMENTS.search(key.value) and _all_known(tree, value)
                if id(value) in known or more:
                    label, parent = names.get(id(mapping), ""), above.get(id(mapping))
                    if _SCRIPTS.search(key.value) and _scripts(tree, value):
                        texts = value.value if isinstance(value, SequenceNode) else [value]
                        around = around or dict(_environments(root, set()))
                        release = reader.pinned(texts) or reader.hint(get(mapping, "image"))
                        release = release or of_texts(reader, texts)
                        found += reader.texts(texts, around.get(id(mapping)), label or key.value, release=release)
                    else:
                        made = _deployments(reader, mapping, key.value, value, label, parent)
                        own = of_texts(reader, [value])
                        found += [replace(one, release=one.release or own or _inside(one, image)) for one in made]
    return found


def _deployments(
    reader: Reader, mapping: MappingNode, key: str, node: Node, label: str, above: MappingNode | None
) -> list[Deployment]:
    """above: the mapping around an `image:` that holds a command; the variables stand there."""
    env = next((value for name, value in entries(mapping, merged=False) if _ENV.search(name.value)), None)
    if env is None and above is not None:
        env = next((value for name, value in entries(above, merged=False) if _ENV.search(name.value)), None)
    model = next((text_of(get(mapping, name)) for name in _MODELS if text_of(get(mapping, name))), None)
    image = next((value for name, value in entries(mapping, merged=False) if "image" in name.value), None)
    hint = (reader.hint(image) if image is not None else None) or _version(reader, mapping)
    if hint is None:
        hint = chart_hint(reader, mapping)
    if hint is not None and hint.release is None:
        hint = _version(reader, mapping) or hint
    if not isinstance(node, MappingNode):
        beside = env if env is not None and get(mapping, _name_of(mapping, env)) is not env else None
        return reader.process(
            mapping, label or key, (key,), _name_of(mapping, env), None, model, True, hint, variables=beside
        )
    around = reader.variables(env) if env is not None else Variables()
    sink = OptionKeys(reader.layer, node, Flavor.KEYWORDS)
    sites = (*around.sites, *sink.sites(reader.borrowed(node)))
    homes = Homes(sink, around.sink)
    return [Deployment(sites, Entrypoint.PLATFORM, label or key, model, hint, handle=homes)]


def _inside(deployment: Deployment, image: ReleaseHint | None) -> ReleaseHint | None:
    """The document's image, for options that a container gets; a command may as well run beside it."""
    return image if deployment.entrypoint in (Entrypoint.IMAGE, Entrypoint.PLATFORM) else None


def _name_of(mapping: MappingNode, env: Node | None) -> str:
    return next((key.value for key, value in entries(mapping, merged=False) if value is env), "env")


def _version(reader: Reader, mapping: MappingNode) -> ReleaseHint | None:
    for key in _VERSIONS:
        node = get(mapping, key)
        inlay = decode(reader.layer, node) if node is not None else None
        if inlay is not None:
            return ReleaseHint(inlay.text, Release.parse(inlay.text), span(inlay, 0, len(inlay.text)), key)
    return None


def _above(root: Node) -> dict[int, MappingNode]:
    """The mapping around each `image:`."""
    return {
        id(value): mapping
        for mapping in walk(root)
        for key, value in entries(mapping, merged=False)
        if key.value == "image"
    }


def _environments(node: Node, seen: set[int], outer: Node | None = None) -> Iterator[tuple[int, Node]]:
    """The environment of each mapping: its own, else that of one around it. seen: nodes that aliases bring again."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, MappingNode):
        own = next((value for key, value in entries(node, merged=False) if _ENV.search(key.value)), None)
        outer = own if isinstance(own, MappingNode | SequenceNode) else outer
        if outer is not None:
            yield id(node), outer
    for child in node.value if isinstance(node, MappingNode | SequenceNode) else ():
        yield from _environments(child[1] if isinstance(child, tuple) else child, seen, outer)


def _names(root: Node) -> dict[int, str]:
    """What a person calls each mapping: its own name, or the key it stands under."""
    found: dict[int, str] = {}
    for mapping in walk(root):
        own = text_of(get(mapping, "name"))
        if own:
            found[id(mapping)] = own
        for key, value in entries(mapping, merged=False):
            found.setdefault(id(value), key.value)
    return found


dialect = YamlDialect("registry", _certainty, _read)
