"""OpenMP's threads of vLLM processes on a CPU: two generations share the cores, and the operator's word stands."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from plan_inputs import machine, make_profile
from rich.console import Console

from appliance.plan import Plan, make_plan, probe, read_checkpoint
from appliance.plan.text import print_plan

BIND, THREADS, WAIT = "VLLM_CPU_OMP_THREADS_BIND", "OMP_NUM_THREADS", "OMP_WAIT_POLICY"


def planned(model: Path, *, nodes: int = 1, openmp: dict[str, str] | None = None, **parallelism: int) -> Plan:
    profile = make_profile({"engine": {"backend": "vllm"}, "parallelism": parallelism})
    hardware = replace(machine("cpu-8c-32g"), numa_nodes=nodes, openmp=openmp or {})
    return make_plan(profile, hardware, read_checkpoint(model))


def chosen(plan: Plan) -> dict[str, str]:
    assert plan.vllm
    assert len({tuple(own.items()) for own in plan.vllm.replicas}) == 1
    return plan.vllm.replicas[0]


def reason(plan: Plan) -> str:
    return next(value.reason for value in plan.values if value.path == "hardware.devices")


def test_two_generations_can_share_the_cores(model: Path) -> None:
    plan = planned(model)
    assert chosen(plan) == {BIND: "nobind", THREADS: "8", WAIT: "PASSIVE"}
    assert reason(plan).endswith("; 8 OpenMP threads, bound to no core, asleep when idle")


@pytest.mark.parametrize(
    ("parallelism", "threads"), [({"data": 2}, "4"), ({"tensor": 2}, "4"), ({"tensor": 2, "data": 2}, "2")]
)
def test_processes_that_compute_divide_them(parallelism: dict[str, int], threads: str, model: Path) -> None:
    plan = planned(model, **parallelism)
    assert chosen(plan) == {BIND: "nobind", THREADS: threads, WAIT: "PASSIVE"}
    assert f"{threads} OpenMP threads per process" in reason(plan)


def test_numa_nodes_are_left_to_vllm(model: Path) -> None:
    plan = planned(model, nodes=2, tensor=2)
    assert chosen(plan) == {WAIT: "PASSIVE"}
    assert "; OpenMP threads, bound to NUMA nodes by vLLM, asleep when idle" in reason(plan)


@pytest.mark.parametrize(
    ("own", "added"),
    [
        ({THREADS: "3"}, {BIND: "nobind", WAIT: "PASSIVE"}),
        ({BIND: "0-3"}, {WAIT: "PASSIVE"}),
        ({BIND: "nobind"}, {THREADS: "8", WAIT: "PASSIVE"}),
        ({"OMP_PROC_BIND": "close"}, {WAIT: "PASSIVE"}),
        ({"GOMP_SPINCOUNT": "100"}, {BIND: "nobind", THREADS: "8"}),
        ({BIND: "auto", WAIT: "ACTIVE"}, {}),
    ],
)
def test_what_the_environment_says_stands(own: dict[str, str], added: dict[str, str], model: Path) -> None:
    plan = planned(model, openmp=own)
    assert chosen(plan) == added
    assert all(f"{name}={value}" in reason(plan) for name, value in own.items())


def test_the_printed_command_has_them(model: Path) -> None:
    written = io.StringIO()
    print_plan(planned(model, data=2), Console(width=80, file=written))
    assert "OMP_WAIT_POLICY=PASSIVE" in written.getvalue()


def test_the_environment_is_read_with_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BIND, "0-3")
    monkeypatch.setenv("OMPI_OTHER", "1")
    found = probe().openmp
    assert found[BIND] == "0-3"
    assert "OMPI_OTHER" not in found


def test_devices_know_nothing_of_it(model: Path) -> None:
    plan = make_plan(make_profile({"engine": {"backend": "vllm"}}), machine("h100x1"), read_checkpoint(model))
    assert chosen(plan) == {}
    assert "OpenMP" not in reason(plan)
