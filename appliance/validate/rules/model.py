"""The model's source, names and context."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from ...diagnostics import Diagnostic
from ...profile.quoting import short
from ...profile.source import parse_source
from ..facts import Facts


def wheel_without_hash(facts: Facts) -> Iterator[Diagnostic]:
    source = parse_source(facts.profile.model.source)
    if source.kind == "pypi" and PurePosixPath(source.path).suffix and not facts.profile.model.sha256:
        fact = "a file from a package index is named without its hash"
        yield facts.error("AP0202", "model.source", fact, "write model.sha256 as its publisher gives it")


def hash_without_file(facts: Facts) -> Iterator[Diagnostic]:
    source = parse_source(facts.profile.model.source)
    whole = source.kind == "pypi" and not PurePosixPath(source.path).suffix
    if facts.profile.model.sha256 and (whole or source.kind in ("hf", "folder")):
        what = "a repository" if source.kind == "hf" else "a folder"
        fix = "pin a commit: hf:organisation/name@commit" if source.kind == "hf" else "remove it, or name a .gguf file"
        yield facts.error("AP0203", "model.sha256", f"a hash fits one file, the source is {what}", fix)


def names(facts: Facts) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, name in enumerate(facts.profile.model.served_names):
        path = f"model.served_names[{index}]"
        if not name or name != name.strip() or not name.isprintable():
            yield facts.error(
                "AP0204", path, f"{short(name)} cannot be asked for", "write a name without blanks around it"
            )
        elif name in seen:
            yield facts.error("AP0204", path, f"{short(name)} stands twice", "remove one")
        seen.add(name)


def context_beyond_model(facts: Facts) -> Iterator[Diagnostic]:
    wanted = facts.profile.model.max_context
    checkpoint = facts.readable
    if checkpoint and wanted != "auto" and wanted > checkpoint.config.max_positions:
        fact = f"{wanted} tokens, the model was made for {checkpoint.config.max_positions}"
        yield facts.error(
            "AP0205", "model.max_context", fact, f"write auto, or at most {checkpoint.config.max_positions}"
        )


def context_without_room(facts: Facts) -> Iterator[Diagnostic]:
    if facts.profile.model.max_context == 1:
        fact = "1 token is no room for a prompt and an answer"
        yield facts.error("AP0205", "model.max_context", fact, "write auto, or 2 and more")
