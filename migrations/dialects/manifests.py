"""Kubernetes objects: everything with containers, the custom resources of serving platforms, configuration maps."""

import re
from collections.abc import Callable, Iterator

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import Deployment, Entrypoint
from appliance.migrations.dialects import load
from appliance.migrations.dialects.containers import inner_tree, object_name, read_containers
from appliance.migrations.dialects.dynamo_graph import read_graph
from appliance.migrations.dialects.env_reader import speaks
from appliance.migrations.dialects.process import Reader, engines_of
from appliance.migrations.dialects.ray_configs import read_configs
from appliance.migrations.dialects.serving import model_of, other_engine
from appliance.migrations.dialects.vllm_config import config, is_config
from appliance.migrations.dialects.vllm_runtimes import read_runtime
from appliance.migrations.dialects.wishes import Homes
from appliance.migrations.dialects.wrappers import wrapper_of
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_scalar import decode
from appliance.migrations.dialects.yaml_tree import Tree, entries, get, items, text_of, walk

_OBJECT = re.compile(r"^apiVersion:", re.MULTILINE)
_SAYS = re.compile(r"(?:runtime|engine|backend|framework|image)$", re.IGNORECASE)
_OPTION_LIKE = re.compile(r"^\s*[\w.-]+\s*:", re.MULTILINE)


def objects(tree: Tree) -> Iterator[MappingNode]:
    """Every object of the file, those inside a List too."""
    for root in tree.roots:
        if text_of(get(root, "kind")) in ("List", "Template"):
            inner = items(get(root, "items")) or items(get(root, "objects"))
            yield from (item for item in inner if isinstance(item, MappingNode))
        elif isinstance(root, MappingNode):
            yield root


def group_of(node: Node) -> str:
    return text_of(get(node, "apiVersion")).partition("/")[0]


def read_manifests(tree: Tree, path: str) -> list[Deployment]:
    listed = list(objects(tree))
    reader = Reader(tree.layer, path, objects=dict(_configured(listed)))
    found: list[Deployment] = []
    for node in listed:
        found += _READERS.get(text_of(get(node, "kind")), _workload)(reader, node)
    for node in listed:
        if text_of(get(node, "kind")) == "ConfigMap":
            found += _variables(reader, node)
    return found


def _configured(listed: list[MappingNode]) -> Iterator[tuple[tuple[str, str], MappingNode]]:
    """The variables of the file's own ConfigMaps and Secrets."""
    for node in listed:
        kind = text_of(get(node, "kind"))
        data = get(node, "stringData" if kind == "Secret" else "data")
        if kind in ("ConfigMap", "Secret") and isinstance(data, MappingNode):
            yield (kind, object_name(node)), data


def _variables(reader: Reader, node: MappingNode) -> list[Deployment]:
    """A ConfigMap of variables that no container of this file takes."""
    data = get(node, "data")
    if data is None or id(data) in reader.seen or not speaks(reader.layer, data):
        return []
    around = reader.variables(data)
    sites = tuple(site for site in around.sites if id(getattr(site.handle.place, "last", None)) not in reader.referred)
    if not sites:
        return []
    homes = Homes(None, around.sink)
    return [Deployment(sites, Entrypoint.PLATFORM, object_name(node), takes_options=False, handle=homes)]


def _workload(reader: Reader, node: MappingNode) -> list[Deployment]:
    """Any object that holds pods, whatever its kind; else a custom resource that has arguments of its own."""
    found = read_containers(reader, node, object_name(node))
    custom = "." in group_of(node) and not group_of(node).endswith(".k8s.io")
    return found if found or not custom or _foreign(node) else _chart(Tree(reader.layer, (node,)), reader.path)


def _foreign(node: Node) -> bool:
    """Whether the object says that another engine is meant."""
    said = (
        text_of(value)
        for mapping in walk(node)
        for key, value in entries(mapping, merged=False)
        if isinstance(value, ScalarNode) and _SAYS.search(key.value)
    )
    return any(map(other_engine, said))


def _predictor(reader: Reader, node: MappingNode) -> list[Deployment]:
    """KServe's InferenceService: arguments go to the runtime's container, or the pod is written out."""
    predictor = get(node, "spec", "predictor")
    found = []
    for key in ("model", "vllm", "huggingface"):
        part = get(predictor, key)
        if part is not None:
            runtime = text_of(get(part, "runtime")) + text_of(get(part, "modelFormat", "name"))
            uri = text_of(get(part, "storageUri")) or None
            certain = "vllm" in runtime.lower()
            wrapper = wrapper_of(key, runtime)
            found += reader.process(part, object_name(node), model=uri, certain=certain, wrapper=wrapper)
    return found + read_containers(reader, node, object_name(node))


def _kubeai(reader: Reader, node: MappingNode) -> list[Deployment]:
    """KubeAI's Model: arguments and variables of the engine that it names."""
    spec = get(node, "spec")
    if text_of(get(spec, "engine")).upper() not in ("VLLM", "") or spec is None or group_of(node) != "kubeai.org":
        return read_containers(reader, node, object_name(node))
    url = text_of(get(spec, "url")).removeprefix("hf://") or None
    return reader.process(spec, object_name(node), ("args",), model=url, certain=True)


def _config_map(reader: Reader, node: MappingNode) -> list[Deployment]:
    """Texts that are the engine's YAML, KAITO's wrapper around it, or scripts that start it."""
    found = []
    for key, value in [*entries(get(node, "data")), *entries(get(node, "stringData"))]:
        inlay = decode(reader.layer, value)
        if inlay is None or (not _OPTION_LIKE.search(inlay.text) and "vllm" not in inlay.text):
            continue
        borrowed = reader.borrowed(value)
        tree = inner_tree(inlay) if not key.value.endswith((".sh", ".py", ".jinja", ".toml")) else None
        roots = [root for root in tree.roots if isinstance(root, MappingNode)] if tree else []
        if tree and any(isinstance(root, SequenceNode) for root in tree.roots):
            found += _chart(tree, reader.path)
        for root in roots:
            section = get(root, "vllm")
            if isinstance(section, MappingNode):
                found.append(config(inlay, section, key.value, borrowed))
            elif is_config(root):
                found.append(config(inlay, root, key.value, borrowed))
            elif get(root, "kind") is not None:
                found += read_manifests(Tree(inlay, (root,)), reader.path)
            else:
                found += read_configs(Tree(inlay, (root,)))
        if not roots and "vllm" in inlay.text:
            for engine, sites in engines_of(inlay, reader.layer, value.start_mark.index, borrowed):
                homes = Homes(engine.sink)
                label = key.value
                found.append(
                    Deployment(sites, engine.entrypoint, label, model_of(sites), takes_env=False, handle=homes)
                )
    return found


def _workspace(reader: Reader, node: MappingNode) -> list[Deployment]:
    """KAITO's Workspace, whose template holds a pod."""
    return read_containers(reader, node, object_name(node))


def _release(reader: Reader, node: MappingNode) -> list[Deployment]:
    """A chart's values inside an object: Argo CD's Application, Flux's HelmRelease, k3s's HelmChart."""
    found: list[Deployment] = []
    for mapping in walk(node):
        for key, value in entries(mapping, merged=False):
            if key.value not in ("values", "valuesObject", "valuesContent"):
                continue
            inlay = decode(reader.layer, value) if isinstance(value, ScalarNode) else None
            tree = inner_tree(inlay) if inlay else None
            if isinstance(value, MappingNode):
                tree = Tree(reader.layer, (value,))
            found += _chart(tree, reader.path) if tree else []
    return found


def _chart(tree: Tree, path: str) -> list[Deployment]:
    """By the dialect whose values they are."""
    for name in ("production-stack", "llm-d", "registry"):
        chart = load(name)
        if isinstance(chart, YamlDialect) and chart.certainty(tree):
            return chart.reader(tree, path)
    return []


_READERS: dict[str, Callable[[Reader, MappingNode], list[Deployment]]] = {
    "Model": _kubeai,
    "ConfigMap": _config_map,
    "Secret": _config_map,
    "InferenceService": _predictor,
    "Workspace": _workspace,
    "Application": _release,
    "ApplicationSet": _release,
    "HelmRelease": _release,
    "HelmChart": _release,
    "DynamoGraphDeployment": read_graph,
    "DynamoComponentDeployment": read_graph,
    "VLLMRuntime": read_runtime,
}


def manifest_dialect(name: str, groups: tuple[str, ...]) -> YamlDialect:
    """A dialect for the objects of some API groups; none stands for all of them."""

    def certainty(tree: Tree) -> float:
        found = [group_of(node) for node in objects(tree) if get(node, "kind") is not None]
        if not any(found):
            return 0.0
        return 0.9 if not groups else 0.95 if any(group in groups for group in found) else 0.0

    return YamlDialect(name, certainty, read_manifests, _OBJECT)
