"""The chart: with the values of `render helm` it makes what `render kubernetes` writes, by Helm's own engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_child import CHART, render_chart
from render_inputs import make_subject, objects, profile_text, rendered
from strict_manifests import check_object

import appliance
from appliance.diagnostics import ApplianceError
from appliance.render import Subject

Make = Callable[..., Subject]
RESOURCES = {"limits": {"cpu": "4", "memory": "16Gi"}}
HOSTILE = "# {{ .Values.image }} <&> \"'\ttab, trailing   \n# 日本語 🙂 $HOME\n"


@pytest.fixture
def make(tmp_path: Path, tiny_model: Callable[..., Path]) -> Make:
    return lambda text, **options: make_subject(tmp_path, text, tiny_model("qwen3"), **options)


@pytest.mark.parametrize(
    ("more", "source", "hardware", "options"),
    [
        ("", "hf:org/model@main", "cpu-4c-16g", {}),
        ("security: {api_keys: [{env: KEY}, {file: /keys/a}]}\n", "hf:o/m", "cpu-4c-16g", {"monitor": True}),
        (HOSTILE, "/models/q", "h100x8", {"replicas": 3, "monitor": True, "image": "x/y:1"}),
        ("engine: {backend: vllm}\n", '"hf:o/${MODEL}"', "mi300x8", {}),
    ],
)
def test_chart_and_manifests_are_the_same_objects(
    make: Make, more: str, source: str, hardware: str, options: dict[str, Any]
) -> None:
    subject = make(profile_text(more, source=source), hardware=hardware, environ={"MODEL": "m"})
    values = yaml.safe_load(rendered("helm", subject, **options).text)
    assert render_chart(values) == objects(rendered("kubernetes", subject, **options))


def test_a_chat_template_goes_along(make: Make, tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text("{{ messages }}\n")
    subject = make(profile_text("").rstrip() + "\n  chat_template: chat.jinja\n")
    values = yaml.safe_load(rendered("helm", subject).text)
    assert render_chart(values)["ConfigMap"]["data"]["chat.jinja"] == "{{ messages }}\n"
    assert render_chart(values) == objects(rendered("kubernetes", subject))


def test_with_profile_and_resources_the_defaults_do() -> None:
    made = render_chart({"profile": profile_text(), "resources": RESOURCES})
    assert sorted(made) == ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service"]
    for tree in made.values():
        check_object(tree)
    assert made["ConfigMap"]["data"]["profile.yaml"] == profile_text()


@pytest.mark.parametrize(
    ("values", "words"),
    [({"resources": RESOURCES}, "profile is empty"), ({"profile": profile_text()}, "resources is empty")],
)
def test_what_has_no_default_is_asked_for(values: dict[str, Any], words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        render_chart(values)


def test_versions_are_the_appliances() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == chart["version"] == appliance.__version__
    assert yaml.safe_load((CHART / "values.yaml").read_text())["image"] == f"appliance:{appliance.__version__}-cpu"


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ("", {"namespace": "x"}),
        ("parallelism: {nodes: 2, pipeline: 2}\n", {}),
        ("endpoints: {metrics: off}\n", {"monitor": True}),
    ],
)
def test_what_the_chart_lacks_is_refused(make: Make, more: str, options: Any) -> None:
    with pytest.raises(ApplianceError, match="AP0806"):
        rendered("helm", make(profile_text(more), hardware="h100x8"), **options)
