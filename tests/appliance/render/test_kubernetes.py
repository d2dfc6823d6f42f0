"""`render kubernetes`: objects that a cluster takes, that fit the plan, and that hold no secret."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from plan_inputs import machine
from render_inputs import make_subject, objects, profile_text, rendered
from strict_manifests import check_object

from appliance.diagnostics import ApplianceError, Severity
from appliance.plan import make_plan, read_checkpoint
from appliance.render import Subject
from appliance.render.names import dns_label

Make = Callable[..., Subject]
VLLM = "engine: {backend: vllm}\n"
RAY = "engine: {backend: vllm, vllm: {options: {distributed-executor-backend: ray}}}\n"
MORE = (
    "",
    "kv_cache: {size: 64MiB}\n",
    "hardware: {memory_fraction: 0.5}\n",
    "parallelism: {data: 2}\nkv_cache: {size: 64MiB}\n",
)


@pytest.fixture
def make(tmp_path: Path, tiny_model: Callable[..., Path]) -> Make:
    return lambda text, **options: make_subject(tmp_path, text, tiny_model("qwen3"), **options)


def pod(made: Any) -> tuple[Any, Any]:
    """(pod's spec, its container) of a Deployment."""
    spec = objects(made)["Deployment"]["spec"]["template"]["spec"]  # type: ignore[index,call-overload]
    return spec, spec["containers"][0]


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


def test_folders_are_mounted_never_single_files(make: Make) -> None:
    """A subPath never sees the swap of ..data, and an edit would never arrive."""
    made = rendered("kubernetes", make(profile_text()))
    assert "subPath" not in made.text
    _, container = pod(made)
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert (mounts["profile"], mounts["keys-0"]) == ("/etc/appliance", "/etc/appliance-keys")
    assert container["args"][:4] == ["up", "/etc/appliance/profile.yaml", "--bind", "0.0.0.0:8000"]


def test_an_edit_of_the_profile_leaves_the_pods_alone(make: Make) -> None:
    before = objects(rendered("kubernetes", make(profile_text())))
    after = objects(rendered("kubernetes", make(profile_text() + "observability: {log_level: debug}\n")))
    assert before["ConfigMap"] != after["ConfigMap"]
    assert before["Deployment"] == after["Deployment"]


def test_keys_are_references(make: Make) -> None:
    spec, container = pod(rendered("kubernetes", make(profile_text())))
    (key,) = [each for each in container["env"] if each["name"] == "APPLIANCE_KEY"]
    assert key["valueFrom"] == {"secretKeyRef": {"name": "triage-keys", "key": "APPLIANCE_KEY"}}
    (volume,) = [each for each in spec["volumes"] if each["name"] == "keys-0"]
    assert volume["secret"]["secretName"] == "triage-keys"
    assert volume["secret"]["items"] == [{"key": "main", "path": "main"}]
    (token,) = [each for each in container["env"] if each["name"] == "HF_TOKEN"]
    assert token["valueFrom"]["secretKeyRef"]["optional"] is True


def test_git_credentials_are_references_too(make: Make) -> None:
    git = "gitops: {repo: ssh://git@example.org/m.git, path: p.yaml, known_hosts: /git/hosts, credentials: {%s}}\n"
    spec, _ = pod(rendered("kubernetes", make(profile_text(git % "file: /git/key")), monitor=True))
    (volume,) = [each for each in spec["volumes"] if each["name"] == "keys-0"]
    assert {item["path"] for item in volume["secret"]["items"]} == {"key", "hosts"}
    by_name = rendered("kubernetes", make(profile_text(git % "env: TOKEN")), monitor=True)
    assert any(each["name"] == "TOKEN" and "valueFrom" in each for each in pod(by_name)[1]["env"])
    assert any(remark.code == "AP0801" for remark in by_name.remarks)
    monitor: Any = objects(by_name)["ServiceMonitor"]
    assert "authorization" not in monitor["spec"]["endpoints"][0]


def test_adapters_in_folders_are_volumes_too(make: Make) -> None:
    adapters = "[{name: a, source: /loras/a}, {name: b, source: hf:o/b}, {name: c, source: /models/q}]"
    text = profile_text("", source="/models/q").rstrip() + f"\n  adapters: {adapters}\n"
    spec, container = pod(rendered("kubernetes", make(text)))
    owned = [each for each in spec["volumes"] if "persistentVolumeClaim" in each]
    claims = {each["name"]: each["persistentVolumeClaim"]["claimName"] for each in owned}
    assert claims == {"model": "triage-model", "adapter-1": "triage-adapter-1"}
    assert {each["mountPath"] for each in container["volumeMounts"] if each["name"] in claims} == {
        "/models/q",
        "/loras/a",
    }


def test_equal_file_names_are_two_entries(make: Make) -> None:
    text = profile_text("security: {api_keys: [{file: /keys/a/main}, {file: /keys/b/main}]}\n")
    spec, _ = pod(rendered("kubernetes", make(text)))
    items = [volume["secret"]["items"] for volume in spec["volumes"] if "secret" in volume]
    assert items == [[{"key": "keys-a-main", "path": "main"}], [{"key": "keys-b-main", "path": "main"}]]


@pytest.mark.parametrize("kind", ["kubernetes", "helm", "compose", "systemd"])
def test_values_of_variables_and_keys_are_never_rendered(make: Make, tmp_path: Path, kind: str) -> None:
    key = tmp_path / "keys"
    key.mkdir()
    (key / "main").write_text("SENTINEL-in-file\n")
    more = f'security: {{api_keys: [{{env: APPLIANCE_KEY}}, {{file: "{key}/main"}}]}}\n'
    text = profile_text(more, source='"hf:org/${MODEL}"')
    environ = {"APPLIANCE_KEY": "SENTINEL-in-env", "MODEL": "SENTINEL-in-reference", "HF_TOKEN": "SENTINEL-token"}
    made = rendered(kind, make(text, environ=environ))
    assert "SENTINEL" not in made.text + "".join(map(str, made.remarks))
    assert "APPLIANCE_KEY" in made.text + "".join(map(str, made.remarks))


def test_variables_of_the_profile_are_taken_from_a_config_map(make: Make) -> None:
    text = profile_text("# ${COMMENT}\nobservability: {log_level: '${LEVEL:-info}'}\n")
    _, container = pod(rendered("kubernetes", make(text, environ={})))
    assert container["envFrom"] == [{"configMapRef": {"name": "triage-environment", "optional": True}}]
    needed = rendered("kubernetes", make(profile_text("", source='"hf:org/${MODEL}"'), environ={"MODEL": "m"}))
    assert pod(needed)[1]["envFrom"][0]["configMapRef"]["optional"] is False
    assert any(remark.code == "AP0807" and "MODEL" in remark.message for remark in needed.remarks)
    assert "COMMENT" not in rendered("kubernetes", make(text, environ={})).text.split("data:")[0]


def test_no_key_is_said_loudly(make: Make) -> None:
    remarks = rendered("kubernetes", make(profile_text(""))).remarks
    (loud,) = [remark for remark in remarks if remark.code == "AP0801"]
    assert loud.severity is Severity.WARNING and "without a key" in loud.message


def test_a_local_model_is_a_volume_of_the_operator(make: Make) -> None:
    made = rendered("kubernetes", make(profile_text(source="/models/q/model.gguf")))
    spec, container = pod(made)
    (volume,) = [each for each in spec["volumes"] if each["name"] == "model"]
    assert volume["persistentVolumeClaim"] == {"claimName": "triage-model", "readOnly": True}
    assert [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "model"] == ["/models/q"]
    assert any(remark.code == "AP0802" and remark.severity is Severity.WARNING for remark in made.remarks)
    assert "PersistentVolumeClaim triage-model" in made.text


def test_a_chat_template_travels_with_the_profile(make: Make, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/my chat.jinja").write_text("{{ messages }}\n")
    text = profile_text("").rstrip() + "\n  chat_template: templates/my chat.jinja\n"
    made = rendered("kubernetes", make(text))
    assert objects(made)["ConfigMap"]["data"]["templates-my-chat.jinja"] == "{{ messages }}\n"  # type: ignore[index,call-overload]
    (volume,) = [each for each in pod(made)[0]["volumes"] if each["name"] == "profile"]
    assert volume["configMap"]["items"][1] == {"key": "templates-my-chat.jinja", "path": "templates/my chat.jinja"}


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
    ("more", "authorised"),
    [
        ("", False),
        ("security: {api_keys: [{env: KEY}]}\n", True),
        ("security: {api_keys: [{file: /keys/main}]}\n", True),
        ("security: {api_keys: [{env: KEY}], metrics_open: true}\n", False),
    ],
)
def test_the_monitor_shows_a_key_where_metrics_want_one(make: Make, more: str, authorised: bool) -> None:
    made = objects(rendered("kubernetes", make(profile_text(more)), monitor=True))
    endpoint: Any = made["ServiceMonitor"]["spec"]["endpoints"][0]  # type: ignore[index,call-overload]
    assert ("authorization" in endpoint) is authorised
    assert "ServiceMonitor" not in objects(rendered("kubernetes", make(profile_text(more))))


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


NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")


@given(NAMES)
def test_names_are_dns_labels_with_room_for_suffixes(name: str) -> None:
    label = dns_label(name)
    assert re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", label)
    assert len(label) <= 51
    assert dns_label(label) == label


def test_long_names_stay_apart() -> None:
    assert dns_label("a" * 62 + "b") != dns_label("a" * 62 + "c")


@pytest.mark.parametrize("name", ["null", "on", "y", "1e3", "0x1f", "2024-01-01", "1_000", "A.b_C", "7", "true"])
def test_names_that_yaml_could_misread(make: Make, name: str) -> None:
    made = rendered("kubernetes", make(profile_text(name=f'"{name}"')), monitor=True)
    for tree in yaml.safe_load_all(made.text):
        check_object(tree)
        assert tree["metadata"]["name"] == dns_label(name)
    noted = any(remark.code == "AP0803" for remark in made.remarks)
    assert noted is (dns_label(name) != name)
