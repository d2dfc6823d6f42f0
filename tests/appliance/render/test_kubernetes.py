"""`render kubernetes`: objects that a cluster takes, and that fit the plan."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_inputs import machine
from render_inputs import Make, objects, pod, profile_text, rendered
from strict_manifests import check_object

from appliance.diagnostics import ApplianceError
from appliance.plan import make_plan, read_checkpoint

VLLM = "engine: {backend: vllm}\n"
RAY = "engine: {backend: vllm, vllm: {options: {distributed-executor-backend: ray}}}\n"
MORE = (
    "",
    "kv_cache: {size: 64MiB}\n",
    "hardware: {memory_fraction: 0.5}\n",
    "parallelism: {data: 2}\nkv_cache: {size: 64MiB}\n",
)


@pytest.mark.parametrize("hardware", ["cpu-4c-16g", "h100x8", "mi300x8"])
@pytest.mark.parametrize(
    "more", ["", VLLM, "parallelism: {tensor: 2}\n", RAY + "parallelism: {nodes: 2, pipeline: 2}\n"]
)
def test_every_object_is_one_a_cluster_takes(make: Make, hardware: str, more: str) -> None:
    made = rendered("kubernetes", make(profile_text(more), hardware=hardware), namespace="models", monitor=True)
    for tree in yaml.safe_load_all(made.text):
        check_object(tree)


@pytest.mark.parametrize(
    "more",
    [
        '# ---\n# {{ .Values.x }} {{- include "y" . }}\n',
        "#\ttab, trailing blanks   \n\n\n",
        "# ünïcödé, 日本語, 🙂, \u00a0\n",
        "# a\r\n# b\r\n",
        "# no newline at the end",
        "#\n  # indented less and more\n# $HOME $(HOME) ${HOME:-x} %s\n",
    ],
)
def test_the_profile_is_carried_verbatim(make: Make, more: str) -> None:
    text = profile_text() + more
    data = objects(rendered("kubernetes", make(text)))["ConfigMap"]["data"]
    assert data == {"profile.yaml": text}


def test_probes_and_times_come_from_the_plan(make: Make) -> None:
    subject = make(profile_text("reload: {drain: 2m}\n"))
    spec, container = pod(rendered("kubernetes", subject))
    startup = container["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 4 * subject.plan.boot_seconds + 60
    assert startup["httpGet"]["path"] == container["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert container["livenessProbe"]["httpGet"] == {"path": "/health", "port": "http"}
    assert spec["terminationGracePeriodSeconds"] > 120 + int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert "Startup budget" in rendered("kubernetes", subject).text


@pytest.mark.parametrize("more", MORE)
def test_planning_inside_the_pod_finds_the_same_room(make: Make, tiny_model: Callable[..., Path], more: str) -> None:
    """Limits are the machine that the appliance sees there, with the supervisor already in memory."""
    subject = make(profile_text(more))
    _, container = pod(rendered("kubernetes", subject))
    limits = container["resources"]["limits"]
    assert limits == container["resources"]["requests"]
    memory = int(limits["memory"].removesuffix("Mi")) * 2**20
    inside = replace(
        machine("cpu-4c-16g"), memory=memory, memory_available=memory - 250 * 2**20, cores=int(limits["cpu"])
    )
    again = make_plan(subject.profile, inside, read_checkpoint(tiny_model("qwen3")))
    assert again.memory.kv_pool >= subject.plan.memory.kv_pool
    assert memory <= max(machine("cpu-4c-16g").memory, 2**30)


def test_nothing_runs_as_root_or_writes_to_the_image(make: Make) -> None:
    spec, container = pod(rendered("kubernetes", make(profile_text())))
    assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] > 0
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/var/lib/appliance", "/var/cache/appliance", "/tmp"}
    homes = {each["value"] for each in container["env"] if each["name"] in ("HOME", "HF_HOME", "APPLIANCE_CACHE")}
    assert all(home.startswith("/var/cache/appliance") for home in homes)


def test_an_edit_of_the_profile_leaves_the_pods_alone(make: Make) -> None:
    before = objects(rendered("kubernetes", make(profile_text())))
    after = objects(rendered("kubernetes", make(profile_text() + "observability: {log_level: debug}\n")))
    assert before["ConfigMap"] != after["ConfigMap"]
    assert before["Deployment"] == after["Deployment"]


@pytest.mark.parametrize(
    ("hardware", "resource", "count"), [("h100x8", "nvidia.com/gpu", "4"), ("mi300x8", "amd.com/gpu", "4")]
)
def test_devices_are_asked_for_by_platform(make: Make, hardware: str, resource: str, count: str) -> None:
    made = rendered("kubernetes", make(profile_text("parallelism: {tensor: 2, data: 2}\n"), hardware=hardware))
    spec, container = pod(made)
    assert container["resources"]["limits"] == {resource: count}
    assert container["resources"]["requests"][resource] == count
    assert any(volume.get("emptyDir", {}).get("medium") == "Memory" for volume in spec["volumes"])
    rollout = objects(made)["Deployment"]["spec"]["strategy"]["rollingUpdate"]  # type: ignore[index,call-overload]
    assert rollout == {"maxSurge": 0, "maxUnavailable": 1}


def test_several_machines_are_a_leader_and_workers(make: Make) -> None:
    text = profile_text(RAY + "parallelism: {nodes: 2, tensor: 8, pipeline: 2}\n")
    made = rendered("kubernetes", make(text, hardware="h100x8"), replicas=3)
    group: Any = objects(made)["LeaderWorkerSet"]["spec"]
    assert (group["replicas"], group["leaderWorkerTemplate"]["size"]) == (3, 2)
    leader, worker = (group["leaderWorkerTemplate"][f"{part}Template"] for part in ("leader", "worker"))
    selector = objects(made)["Service"]["spec"]["selector"]  # type: ignore[index,call-overload]
    assert selector == leader["metadata"]["labels"] and not selector.items() <= worker["metadata"]["labels"].items()
    assert "LWS_LEADER_ADDRESS" in worker["spec"]["containers"][0]["command"][2]
    assert "readinessProbe" not in worker["spec"]["containers"][0]
    assert worker["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert any(remark.code == "AP0809" for remark in made.remarks)


@pytest.mark.parametrize(
    ("more", "options", "code", "fragment"),
    [
        ("security: {api_keys: [{file: keys/main}]}\n", {}, "AP0804", "keys/main"),
        ("security: {api_keys: [{file: ~/main}]}\n", {}, "AP0804", "~/main"),
        ("security: {api_keys: [{file: /etc/main}]}\n", {}, "AP0804", "needs itself"),
        ("security: {api_keys: [{file: /etc/appliance/main}]}\n", {}, "AP0804", "needs itself"),
        ("security: {api_keys: [{file: /keys/../etc/main}]}\n", {}, "AP0804", "only on the machine"),
        (VLLM + "parallelism: {nodes: 2, pipeline: 2}\n", {}, "AP0806", "Ray"),
        ("gitops: {repo: /srv/m.git, path: p.yaml}\n", {}, "AP0804", "folder of this machine"),
        ("endpoints: {metrics: off}\n", {"monitor": True}, "AP0806", "metrics"),
        ("", {"namespace": "Not_Legal"}, "AP0806", "DNS label"),
        ("", {"namespace": "a\nb"}, "AP0806", "DNS label"),
        ("", {"image": "my image\n- x"}, "AP0806", "image"),
        ("  chat_template: /srv/chat.jinja\n", {}, "AP0804", "below the profile"),
        ("  chat_template: ../chat.jinja\n", {}, "AP0804", "below the profile"),
    ],
)
def test_what_a_pod_cannot_take_is_refused(make: Make, more: str, options: Any, code: str, fragment: str) -> None:
    with pytest.raises(ApplianceError) as refused:
        rendered("kubernetes", make(profile_text(more)), **options)
    (finding,) = refused.value.diagnostics
    assert finding.code == code and fragment in str(finding) and finding.fix


@pytest.mark.parametrize("source", ["models/x", "~/models/x", "x.gguf", "/models/../x", "/etc"])
def test_a_model_beside_the_profile_is_refused(make: Make, source: str) -> None:
    with pytest.raises(ApplianceError, match=r"AP0804 error model\.source"):
        rendered("kubernetes", make(profile_text(source=source)))
