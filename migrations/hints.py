"""Combinations that the engine refuses or that do nothing, whatever the release they were written for."""

from collections.abc import Iterator
from dataclasses import dataclass

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Plain
from appliance.migrations.change import Change, Part
from appliance.migrations.families import FAMILIES, parser
from appliance.migrations.matching import holds
from appliance.migrations.operations import Comment, Operation, Rewrite
from appliance.migrations.release import Release
from appliance.migrations.rule import Below, Condition, Is, Lacks, ModelLike, Sets, Target, option
from appliance.migrations.settings import Settings

_ALWAYS = Release(0, 0)


@dataclass(frozen=True, slots=True)
class Hint:
    """severity: ERROR where the engine does not start. since: the first release in which this is so.

    writes: the value that is put there, because the old one would not start. names: the option whose parser the way
    out names, where the model's family is known.
    """

    code: str
    severity: Severity
    target: Target
    when: tuple[Condition, ...]
    fact: str
    way_out: str
    since: Release = _ALWAYS
    writes: Plain = None
    names: str = ""


_ON = Is((True,))
_AUTO = option("enable-auto-tool-choice")
_PARSER = option("tool-call-parser")
_REASONING = option("reasoning-parser")
_QUANTIZATION = option("quantization")
_METHOD = option("speculative-config", "method")
_KV = option("kv-cache-dtype")
_CHUNKED = option("enable-chunked-prefill")
_TOKENS, _CONTEXT = option("max-num-batched-tokens"), option("max-model-len")
_BLOCK = option("block-size")
_OFF = Is((False,))
_BY_PLUGIN = "are read by a plugin only, not by the engine itself"
_OTHER_WEIGHTS = "serve the model in another format, or install the plugin"
_E5M2 = "fp8_e5m2 is refused for checkpoints in FP8, when the model is built"

HINTS = (
    Hint(
        "VM0036",
        Severity.NOTE,
        _QUANTIZATION,
        (Sets(_QUANTIZATION, Is(("awq", "gptq"))),),
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
        names="tool-call-parser",
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
        _KV,
        (Sets(_KV, Is(("fp8_e5m2",))), Sets(_QUANTIZATION, Is(("fp8", "fbgemm_fp8")))),
        _E5M2,
        "write fp8",
        writes="fp8",
    ),
    Hint(
        "VM0034",
        Severity.ERROR,
        _KV,
        (Sets(_KV, Is(("fp8_e5m2",))), Lacks(_QUANTIZATION), ModelLike(r"fp8")),
        _E5M2,
        "write fp8",
        writes="fp8",
    ),
    Hint(
        "VM0035",
        Severity.NOTE,
        _REASONING,
        (ModelLike("|".join(one.named for one in FAMILIES if one.reasoning)), Lacks(_REASONING)),
        "a model that reasons puts its reasoning into the answer when no parser is named",
        "name the parser of the model's family",
        names="reasoning-parser",
    ),
    Hint(
        "VM0039",
        Severity.ERROR,
        _METHOD,
        (Sets(_METHOD, Is(("mlp_speculator",))),),
        "the name is still taken, but draft models of this kind belonged to the old engine and are not loaded any more",
        "use an EAGLE draft made for the model, or ngram",
        Release(0, 11),
    ),
    Hint(
        "VM0040",
        Severity.NOTE,
        _BLOCK,
        (Sets(_BLOCK),),
        "not every attention backend takes every size, and the hardware decides which do; a faster one may be left out",
        "leave it out, so that the backend takes its own",
        Release(0, 11),
    ),
    Hint(
        "VM0041",
        Severity.NOTE,
        _CHUNKED,
        (Sets(_CHUNKED, _OFF), Lacks(option("kv-transfer-config"))),
        "a long prompt then runs in one step and holds up every answer; whether that is still wanted is not said here",
        "leave it out, unless something needs whole prompts",
    ),
    Hint(
        "VM0042",
        Severity.ERROR,
        _TOKENS,
        (Sets(_CHUNKED, _OFF), Below(_TOKENS, _CONTEXT)),
        "without chunked prefill a whole prompt has to fit into one step, so less than --max-model-len is refused",
        "raise it to --max-model-len, or let the engine chunk prompts",
    ),
    Hint(
        "VM0038",
        Severity.ERROR,
        option("model"),
        (ModelLike(r"\.gguf\Z|[-_]gguf\Z"), Lacks(_QUANTIZATION), Lacks(option("load-format"))),
        f"GGUF files {_BY_PLUGIN}",
        _OTHER_WEIGHTS,
        Release(0, 24),
    ),
    Hint(
        "VM0038",
        Severity.ERROR,
        option("model"),
        (ModelLike(r"[-_]bnb\b|bitsandbytes"), Lacks(_QUANTIZATION), Lacks(option("load-format"))),
        f"bitsandbytes weights {_BY_PLUGIN}",
        _OTHER_WEIGHTS,
        Release(0, 28),
    ),
)


def check_hints(
    before: Settings, after: Settings, model: str | None, target: Release, touched: frozenset[int], comments: bool
) -> Iterator[Change]:
    """Hints about the settings as they will be; sites are those of the text. touched: sites that change anyway."""
    for hint in HINTS:
        if target < hint.since or not all(holds(condition, after, model) for condition in hint.when):
            continue
        name = parser(model or "", hint.names, target) if hint.names else ""
        if hint.code == "VM0035" and not name:
            continue
        site = next((site for site, _ in before.at(hint.target)), None)
        subject = str(hint.target)
        way_out = f"add --{hint.names} {name}" if name else hint.way_out
        operations: tuple[Operation, ...] = ()
        if hint.writes is not None and site is not None and site.known and id(site) not in touched:
            remark = Comment(site, f"{hint.code}: {subject}: {hint.fact}")
            operations = (Rewrite(site, value=hint.writes), *([remark] if comments else []))
        fact = f"{subject}: {hint.fact}"
        yield Change(Part.DECISION, hint.code, hint.severity, subject, fact, way_out, site, None, operations)
