"""Combinations that the engine refuses or that do nothing, whatever the release they were written for."""

from collections.abc import Iterator
from dataclasses import dataclass

from appliance.diagnostics import Severity
from appliance.migrations.change import Change, Part
from appliance.migrations.matching import holds
from appliance.migrations.release import Release
from appliance.migrations.rule import Condition, Is, Lacks, ModelLike, Sets, Target, option
from appliance.migrations.settings import Settings

_ALWAYS = Release(0, 0)


@dataclass(frozen=True, slots=True)
class Hint:
    """severity: ERROR where the engine does not start. since: the first release in which this is so."""

    code: str
    severity: Severity
    target: Target
    when: tuple[Condition, ...]
    fact: str
    way_out: str
    since: Release = _ALWAYS


_ON = Is((True,))
_AUTO = option("enable-auto-tool-choice")
_PARSER = option("tool-call-parser")
_REASONING = (
    r"deepseek-r1|qwq|qwen3(?!.*(instruct|coder|embed|rerank))|gpt-oss|magistral|glm-4\.[5-9]|minimax-m2|k2-thinking"
)

HINTS = (
    Hint(
        "VM0036",
        Severity.NOTE,
        option("quantization"),
        (Sets(option("quantization"), Is(("awq", "gptq"))),),
        "this name asks for the slower kernels; left out, the engine takes the faster ones for the same weights",
        "leave it out",
    ),
    Hint(
        "VM0031",
        Severity.WARNING,
        _PARSER,
        (Sets(_PARSER), Lacks(_AUTO)),
        "without --enable-auto-tool-choice it does nothing for tool_choice auto",
        "add --enable-auto-tool-choice",
    ),
    Hint(
        "VM0032",
        Severity.ERROR,
        _AUTO,
        (Sets(_AUTO, _ON), Lacks(_PARSER)),
        "the engine does not start without --tool-call-parser",
        "name the parser of the model's family",
    ),
    Hint(
        "VM0033",
        Severity.ERROR,
        option("enable-log-outputs"),
        (Sets(option("enable-log-outputs"), _ON), Lacks(option("enable-log-requests"))),
        "the engine does not start without --enable-log-requests",
        "add --enable-log-requests, or leave the outputs out of the log",
        Release(0, 32),
    ),
    Hint(
        "VM0034",
        Severity.ERROR,
        option("kv-cache-dtype"),
        (Sets(option("kv-cache-dtype"), Is(("fp8_e5m2",))), Sets(option("quantization"), Is(("fp8", "fbgemm_fp8")))),
        "fp8_e5m2 is refused for checkpoints in FP8, when the model is built",
        "write fp8",
    ),
    Hint(
        "VM0034",
        Severity.ERROR,
        option("kv-cache-dtype"),
        (
            Sets(option("kv-cache-dtype"), Is(("fp8_e5m2",))),
            Lacks(option("quantization")),
            ModelLike(r"fp8"),
        ),
        "fp8_e5m2 is refused for checkpoints in FP8, when the model is built",
        "write fp8",
    ),
    Hint(
        "VM0035",
        Severity.NOTE,
        option("reasoning-parser"),
        (ModelLike(_REASONING), Lacks(option("reasoning-parser"))),
        "a model that reasons puts its reasoning into the answer when no parser is named",
        "name the parser of the model's family",
    ),
)


def check_hints(before: Settings, after: Settings, model: str | None, target: Release) -> Iterator[Change]:
    """Hints about the settings as they will be; sites are those of the text."""
    for hint in HINTS:
        if target < hint.since or not all(holds(condition, after, model) for condition in hint.when):
            continue
        site = next((site for site, _ in before.at(hint.target)), None)
        subject = str(hint.target)
        yield Change(Part.DECISION, hint.code, hint.severity, subject, f"{subject}: {hint.fact}", hint.way_out, site)
