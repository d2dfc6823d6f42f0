"""Endpoints against what the model is for."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ...profile.endpoints import Endpoints
from ..facts import Facts

GENERATING = ("chat", "completions", "responses", "messages", "systemone", "decisions")
NEEDS = {**dict.fromkeys(GENERATING, "generate"), "embeddings": "embed", "transcriptions": "transcribe"}
TASKS = {
    "generate": "generates text",
    "embed": "is an embedding model",
    "classify": "is a classifier",
    "transcribe": "is a speech recogniser",
}


def served_by_model(facts: Facts) -> Iterator[Diagnostic]:
    kind = facts.kind
    if kind is None or kind.task == "unknown":
        return
    for name, needed in NEEDS.items():
        path = f"endpoints.{name}"
        switch = facts.value(path)
        if needed == kind.task or switch in ("off", "auto"):
            continue
        fact = f"{kind.name} {TASKS[kind.task]}"
        if switch == "required":
            yield facts.error("AP0230", path, f"required, and {fact}", "set it to off, or serve another model")
        elif facts.written(path):
            yield facts.warning("AP0230", path, f"on, and {fact}: every call is answered 501", "set it to off")


def nothing_served(facts: Facts) -> Iterator[Diagnostic]:
    answering = [name for name in Endpoints.model_fields if name not in ("metrics", "console")]
    if all(facts.value(f"endpoints.{name}") == "off" for name in answering):
        yield facts.warning("AP0231", "endpoints", "every endpoint is off, nothing is served", "set one to on")
