"""What a Kubernetes manifest says around the engine: probes that pass too early or are not there, TPUs."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity

from ..finding import Finding
from .scene import Scene, remark

_PROBE = "use httpGet on /health, and ask /v1/models for the model's name"
_WORKLOAD = re.compile(r"^kind:[ \t]*[\"']?(?:Deployment|StatefulSet)\b", re.MULTILINE)
_PROBED = re.compile(r"[\"']?(?:readinessProbe|startupProbe)[\"']?[ \t]*:|\{\{")
_EARLY = re.compile(r"readinessProbe:[ \t]*(?:#[^\n]*)?\r?\n[ \t]*tcpSocket")
_TPU = re.compile(r"google-tpu|gke-tpu|google\.com/tpu|\bvllm-tpu\b")


def manifest_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    if index or scene.dialect not in ("kubernetes", "kserve", "kubeai", "aibrix", "dynamo"):
        return
    if scene.dialect == "kubernetes":
        yield from _probes(scene)
    if tpu := _TPU.search(scene.text):
        fact = "vLLM runs on TPUs with a plugin (tpu-inference), whose own releases decide what works"
        fix = "check the plugin's release for the target"
        yield remark("VM0112", Severity.NOTE, "TPU", fact, fix, scene.lines.at(tpu.start()))


def _probes(scene: Scene) -> Iterator[Finding]:
    if early := _EARLY.search(scene.text):
        fact = "tcpSocket passes as soon as the port is open, before the model can answer"
        place = scene.lines.at(early.start())
        yield remark("VM0111", Severity.WARNING, "readinessProbe", fact, _PROBE, place)
    elif (workload := _WORKLOAD.search(scene.text)) and not _PROBED.search(scene.text):
        fact = "there is none, so requests arrive while the model is still loading"
        fix = f"add a startupProbe and a readinessProbe; {_PROBE}"
        yield remark("VM0111", Severity.NOTE, "readinessProbe", fact, fix, scene.lines.at(workload.start()))
