"""`render kubernetes`: what a profile needs from outside is referred to: keys, variables, folders, templates."""

from pathlib import Path
from typing import Any

import pytest
from render_inputs import Make, objects, pod, profile_text, rendered

from appliance.diagnostics import Severity


def test_folders_are_mounted_never_single_files(make: Make) -> None:
    """A subPath never sees the swap of ..data, and an edit would never arrive."""
    made = rendered("kubernetes", make(profile_text()))
    assert "subPath" not in made.text
    _, container = pod(made)
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert (mounts["profile"], mounts["keys-0"]) == ("/etc/appliance", "/etc/appliance-keys")
    assert container["args"][:4] == ["up", "/etc/appliance/profile.yaml", "--bind", "0.0.0.0:8000"]


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
