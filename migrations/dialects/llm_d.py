"""Values of llm-d's charts, and of other charts: containers outside any Kubernetes object."""

from yaml.nodes import SequenceNode

from appliance.migrations.canonical import Deployment
from appliance.migrations.dialects.containers import read_containers
from appliance.migrations.dialects.process import Reader
from appliance.migrations.dialects.yaml_dialect import YamlDialect
from appliance.migrations.dialects.yaml_tree import Tree, get, walk


def _certainty(tree: Tree) -> float:
    for root in tree.roots:
        if get(root, "kind") is not None or get(root, "services") is not None:
            continue
        if any(isinstance(get(mapping, "containers"), SequenceNode) for mapping in walk(root)):
            return 0.8 if get(root, "decode") or get(root, "modelArtifacts") else 0.5
    return 0.0


def _read(tree: Tree, path: str) -> list[Deployment]:
    reader = Reader(tree.layer)
    return [deployment for root in tree.roots for deployment in read_containers(reader, root)]


dialect = YamlDialect("llm-d", _certainty, _read, needs="containers")
