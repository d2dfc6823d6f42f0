"""What a Kubernetes manifest says around the engine: probes that pass too early or are not there, TPUs."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity
from appliance.migrations.change import Change, Part

from .finding import Finding
from .source import Lines

_WORKLOAD = re.compile(r"^kind:[ \t]*[\"']?(?:Deployment|StatefulSet)\b", re.MULTILINE)
_PROBED = re.compile(r"[\"']?(?:readinessProbe|startupProbe)[\"']?[ \t]*:|\{\{")
_EARLY = re.compile(r"readinessProbe:[ \t]*(?:#[^\n]*)?\r?\n[ \t]*tcpSocket")
_TPU = re.compile(r"google-tpu|gke-tpu|google\.com/tpu|\bvllm-tpu\b")


def manifest_remarks(dialect: str, text: str, lines: Lines) -> Iterator[Finding]:
    if dialect in ("kubernetes", "kserve", "kubeai", "aibrix"):
        yield from _probes(text, lines) if dialect == "kubernetes" else ()
        if tpu := _TPU.search(text):
            fact = "TPU: vLLM runs on TPUs with a plugin (tpu-inference), whose own releases decide what works"
            yield _note("VM0112", Severity.NOTE, "TPU", fact, "check the plugin's release for the target", lines, tpu)


def _probes(text: str, lines: Lines) -> Iterator[Finding]:
    if early := _EARLY.search(text):
        fact = "readinessProbe: tcpSocket passes as soon as the port is open, before the model can answer"
        yield _note("VM0111", Severity.WARNING, "readinessProbe", fact, "use httpGet on /health", lines, early)
    elif (workload := _WORKLOAD.search(text)) and not _PROBED.search(text):
        fact = "readinessProbe: there is none, so requests arrive while the model is still loading"
        fix = "add a startupProbe and a readinessProbe with httpGet on /health"
        yield _note("VM0111", Severity.NOTE, "readinessProbe", fact, fix, lines, workload)


def _note(code: str, severity: Severity, subject: str, fact: str, fix: str, lines: Lines, at: re.Match[str]) -> Finding:
    return Finding(Change(Part.DECISION, code, severity, subject, fact, fix), *lines.at(at.start()))
