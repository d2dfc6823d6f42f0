"""Profiles ready to be rendered, without a model of their own: the plan is made from a tiny checkpoint."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from plan_inputs import machine

from appliance.plan import make_plan, read_checkpoint
from appliance.profile import load
from appliance.render import Options, Rendered, Subject, find_renderer

HEAD = """schema: 1
name: {name}
release: "0.32"
model:
  source: {source}
"""
KEYS = """security:
  api_keys:
    - env: APPLIANCE_KEY
    - file: /etc/appliance-keys/main
"""
Make = Callable[..., Subject]
"""make_subject in a test's own folder, over a tiny model."""


def profile_text(more: str = KEYS, name: str = "triage", source: str = "hf:org/model@main") -> str:
    return HEAD.format(name=name, source=source) + more


def make_subject(
    folder: Path,
    text: str,
    checkpoint: Path,
    hardware: str = "cpu-4c-16g",
    environ: Mapping[str, str] | None = None,
    command: str = "appliance render",
) -> Subject:
    """`checkpoint` stands for the model wherever `model.source` says it comes from."""
    file = folder / "profile.yaml"
    file.write_bytes(text.encode())
    variables = os.environ if environ is None else environ
    document, profile, found = load(str(file), variables)
    assert profile is not None, [str(finding) for finding in found]
    plan = make_plan(profile, machine(hardware), read_checkpoint(checkpoint), forecast=True)
    return Subject(document, profile, plan, command, variables)


def rendered(kind: str, subject: Subject, **options: object) -> Rendered:
    return find_renderer(kind).render(subject, Options(**options))  # type: ignore[arg-type]


def objects(made: Rendered) -> dict[str, dict[str, Any]]:
    """Kind -> object."""
    return {tree["kind"]: tree for tree in yaml.safe_load_all(made.text)}


def pod(made: Any) -> tuple[Any, Any]:
    """(pod's spec, its container) of a Deployment."""
    spec = objects(made)["Deployment"]["spec"]["template"]["spec"]
    return spec, spec["containers"][0]
