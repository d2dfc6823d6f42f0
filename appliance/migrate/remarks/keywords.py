"""Options that a platform hands to the engine as Python keyword arguments, and the command line that says the same."""

import shlex
from collections.abc import Iterator

from appliance.diagnostics import Severity
from appliance.migrations.argv import write_words
from appliance.migrations.canonical import UNKNOWN, Entrypoint, Form, Kind
from appliance.migrations.operations import Raw
from appliance.migrations.plan import settle
from appliance.migrations.rule import Room
from appliance.migrations.settings import Leaf, value_of

from ..finding import Finding
from .scene import Scene, remark


def keyword_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    deployment = scene.deployments[index]
    if scene.dialect != "truss" or deployment.entrypoint is not Entrypoint.PYTHON:
        return
    first = next((site for site in deployment.sites if site.kind is Kind.OPTION and site.form is Form.YAML_KEY), None)
    if first is None:
        return
    grouped: dict[str, list[Leaf]] = {}
    for leaf in settle(deployment.sites, scene.starts[index], scene.target, deployment.model).leaves:
        if leaf.room is Room.OPTION:
            grouped.setdefault(leaf.name, []).append(leaf)
    words = ["vllm", "serve", *([deployment.model] if deployment.model else [])]
    for name, leaves in grouped.items():
        value = value_of(leaves, 0)
        if value is UNKNOWN or isinstance(value, Raw):
            words += [f"--{name}", leaves[0].site.raw_value or ""]
        else:
            words += write_words(name, value)
    fact = "keyword arguments of Python, which keep their underscores and values"
    way_out = f"a command line says the same as: {shlex.join(words)}"
    yield remark("VM0118", Severity.NOTE, "keys", fact, way_out, scene.lines.at(first.name_span.start))
