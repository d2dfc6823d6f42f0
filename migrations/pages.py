"""What `appliance explain` and the docs print about migration codes: a page for each rule and each general finding."""

from functools import cache

from appliance.diagnostics import Code
from appliance.migrations.hints import HINTS
from appliance.migrations.quirks import QUIRKS
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Rule

_CHECKS = (
    (
        "VM0001",
        "unknown option",
        "No release of the engine knows the option, so it would refuse to start.",
        "correct it",
    ),
    (
        "VM0002",
        "option too new",
        "The option came with a later release than the one you target, which refuses to start with it.",
        "remove it or target a newer release",
    ),
    (
        "VM0003",
        "abbreviated option",
        "The engine completes a name that only one option begins with; a new option can make it ambiguous.",
        "write the name in full",
    ),
    ("VM0004", "option gone", "The option belongs to older releases than the one you target.", "remove it"),
    (
        "VM0005",
        "unknown nested key",
        "The key does not exist in this config. Since 0.16 that stops the start; before, the key was ignored.",
        "correct or remove it",
    ),
    (
        "VM0006",
        "unknown modality",
        "Limits exist for image, video and audio; any other name is accepted and does nothing.",
        "use one of the three",
    ),
    ("VM0007", "bad value", "The value is not among those the option takes, or out of its range.", "choose another"),
    (
        "VM0008",
        "boolean in quotes",
        "A JSON text in quotes is no boolean; some settings take it for true whatever it says.",
        "remove the quotes",
    ),
    (
        "VM0009",
        "variable nobody reads",
        "The engine does not know this VLLM_ variable: it logs a warning and goes on without it.",
        "correct or remove it",
    ),
    (
        "VM0010",
        "name not built in",
        "The engine itself registers no parser, connector or format of this name; a plugin may.",
        "check the spelling, or that the plugin is installed",
    ),
)
_SPELLING = (
    "VM0020",
    "spelling of another release",
    "The target release has the option, but not this flag, alias or negation for it.",
    "write the spelling that the release has",
)
_MODEL_WORD = (
    "VM0037",
    "--model of vllm serve",
    "`vllm serve` takes the model as its first word. It still takes --model, with a warning that the option will go.",
    "write the model alone, in front of all options",
)
_SECURITY = (
    (
        "VM0021",
        "secret in clear text",
        "Files are committed and command lines are visible to every process.",
        "use a store",
    ),
    ("VM0022", "empty API key", "The engine drops empty keys, so the server runs open.", "set a key"),
    (
        "VM0023",
        "routes without a key",
        "`--api-key` guards paths below /v1, /v2 and /inference only; /invocations answers prompts without one.",
        "put a gate in front of the port",
    ),
    ("VM0024", "open on every address", "The server listens on every address and asks for no key.", "set a key"),
    ("VM0025", "development mode", "Routes that stop, pause and rewrite the engine are open.", "bind to 127.0.0.1"),
    ("VM0026", "adapters at run time", "Clients may load adapters from paths of the server.", "put a gate in front"),
    ("VM0027", "answers in the log", "Prompts and answers are written into the log.", "leave it off"),
    ("VM0028", "remote code", "Code that comes with the model runs in the server.", "pin the revision"),
    ("VM0030", "empty token", "An empty token opens no model behind a licence.", "take it from a secret"),
    ("VM0029", "wide CORS", "Every web page may call the server from its visitors' browsers.", "list your origins"),
)


_NOTHING = "nothing to rewrite; see what it means for you"


@cache
def pages() -> dict[str, Code]:
    """Every code by name, general ones first, then rules by release."""
    listed = (*_CHECKS, _SPELLING, *_SECURITY, _MODEL_WORD)
    found = {code: Code(code, title, meaning, way_out) for code, title, meaning, way_out in listed}
    for quirk, (code, fact, way_out, _) in QUIRKS.items():
        found[code] = Code(code, str(quirk).replace("-", " "), f"{fact[0].upper()}{fact[1:]}.", way_out)
    for hint in HINTS:
        found[hint.code] = Code(hint.code, f"{hint.target} as it stands", f"{hint.target}: {hint.fact}.", hint.way_out)
    return found | {rule.code: _page(rule) for rule in RULES}


def _page(rule: Rule) -> Code:
    meaning = f"{rule.reason[0].upper()}{rule.reason[1:]}.\n\nSince {rule.since.short}: {rule.nature}.\n"
    meaning += f"Evidence: {rule.evidence}."
    return Code(rule.code, f"{rule.target}: {rule.nature}", meaning, rule.way_out or _NOTHING, _example(rule))


def _example(rule: Rule) -> str:
    if not rule.before or rule.before == rule.after:
        return rule.before
    return f"{rule.before}\n{rule.after or '(nothing)'}"
