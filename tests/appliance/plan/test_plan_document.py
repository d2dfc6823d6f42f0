"""The plan as data: every field of the profile, JSON, differences, sampling defaults and secrets."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import msgspec
from checkpoint_shapes import make_checkpoint
from plan_inputs import machine, make_profile

from appliance.plan import Plan, diff_plans, make_plan, plan_schema
from appliance.plan.resolved import leaves


def plan(tree: dict[str, Any] | None = None, **checkpoint: Any) -> Plan:
    found = make_checkpoint(checkpoint.pop("name", "smollm2-135m"), **checkpoint)
    found = replace(found, sampling_defaults={"temperature": 0.6})
    return make_plan(make_profile(tree), machine("cloud-2c-24g"), found)


def test_every_field_is_there_with_a_reason_and_no_auto_is_left() -> None:
    made = plan()
    assert [value.path for value in made.values] == [path for path, *_ in leaves(make_profile())]
    assert all(value.reason and value.reload in ("live", "reconfigure", "engine", "listener") for value in made.values)
    left = {value.path for value in made.values if value.value == "auto"}
    assert left == {"reload.strategy"}


def test_json_round_trip_and_schema() -> None:
    made = plan({"security": {"api_keys": [{"env": "KEY"}]}, "model": {"served_names": ["a"]}})
    tree = json.loads(made.json())
    jsonschema.validate(tree, plan_schema())
    assert msgspec.convert(tree, Plan).engine == made.engine
    assert tree["server"]["api_keys"] == [{"env": "KEY"}]
    assert made.json() == plan({"security": {"api_keys": [{"env": "KEY"}]}, "model": {"served_names": ["a"]}}).json()


def test_sampling_defaults_reach_the_server() -> None:
    made = plan()
    assert made.sampling == made.server.sampling_defaults == {"temperature": 0.6}


def test_auto_endpoints_become_on_or_off_for_the_server() -> None:
    made = plan({"endpoints": {"chat": "auto", "systemone": "auto"}})
    assert (made.server.endpoints["chat"], made.server.endpoints["embeddings"]) == ("on", "off")
    embedding = plan({"endpoints": {"chat": "auto"}}, task="embed")
    assert embedding.server.endpoints["chat"] == "off"
    assert "embedding model" in embedding.notes[0]


def test_the_server_switches_only_what_it_has() -> None:
    from appliance.server.endpoints import ENDPOINTS

    on = {name for name, switch in plan().server.endpoints.items() if switch == "on"}
    assert on == {endpoint.switch for endpoint in ENDPOINTS if endpoint.switch}


def test_differences_carry_their_reload_class() -> None:
    before = plan()
    after = plan(
        {"limits": {"queue": {"requests": 7}}, "security": {"bind": "127.0.0.1:9"}, "model": {"dtype": "float32"}}
    )
    changes = {change.path: (change.before, change.after, change.reload) for change in diff_plans(before, after)}
    assert changes == {
        "model.dtype": ("bfloat16", "float32", "engine"),
        "model.weights": ("bfloat16", "float32", "engine"),
        "kv_cache.dtype": ("bfloat16", "float32", "engine"),
        "kv_cache.size": (6039797760, 6318489600, "engine"),
        "limits.queue.requests": (256, 7, "live"),
        "security.bind": ("127.0.0.1:8000", "127.0.0.1:9", "listener"),
    }
    assert diff_plans(before, plan()) == ()


def test_another_model_under_the_same_source_is_a_difference() -> None:
    before = plan()
    moved = replace(before, engine=replace(before.engine, model_path="/elsewhere", generation=2))
    (change,) = diff_plans(before, moved)
    assert (change.before, change.after, change.reload) == ("/models/smollm2-135m", "/elsewhere", "engine")
    sampled = replace(before, sampling={})
    assert [(change.path, change.reload) for change in diff_plans(before, sampled)] == [
        ("sampling defaults of the model", "live")
    ]


def test_writing_a_default_out_changes_nothing() -> None:
    written = plan({"kv_cache": {"block_tokens": 16, "prefix_caching": True}, "limits": {"schema_depth": 64}})
    assert diff_plans(plan(), written) == ()
    assert written.hash == plan().hash
