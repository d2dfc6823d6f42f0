"""Is this a profile at all? Other files of a deployment are named for what they are."""

from typing import Any

from ..diagnostics import Diagnostic, Position, Severity
from .document import Document
from .fields import all_fields

OWN = frozenset(path for path in all_fields() if "." not in path and "[" not in path) - {"name", "model", "engine"}

# what a file of another kind has at its top -> how it is called
KINDS: dict[str, frozenset[str]] = {
    "a compose file": frozenset(["services"]),
    "a Kubernetes manifest": frozenset(["apiVersion", "kind"]),
    "a LiteLLM configuration": frozenset(["model_list"]),
    "a llama-swap configuration": frozenset(["models"]),
}
BEGIN = "begin with schema: 1, as profiles/quickstart.yaml does"
OPTIONS = frozenset(field.option.replace("-", "_") for field in all_fields().values() if field.option) - {"model"}


def foreign(document: Document, data: Any) -> Diagnostic | None:
    """A finding where nothing at the top of the document is a profile's."""
    at = document.position()
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, tuple) else "a single value"
        return _not_a_profile(at, f"the text is {kind}, a profile is a mapping", BEGIN)
    if OWN & set(data) or not data:
        return None
    for name, keys in KINDS.items():
        if keys <= set(data):
            return _not_a_profile(at, f"this is not a profile (no schema: key at its top); it looks like {name}", BEGIN)
    if any(key.replace("-", "_") in OPTIONS for key in data):
        fact = "this is not a profile (no schema: key at its top); it looks like options of `vllm serve`"
        return _not_a_profile(at, fact, BEGIN)
    if {"name", "model"} & set(data):
        return None
    return _not_a_profile(at, "this is not a profile (no schema: key at its top)", BEGIN)


def _not_a_profile(at: Position, fact: str, fix: str) -> Diagnostic:
    return Diagnostic("AP0018", Severity.ERROR, at, "", fact, fix)
