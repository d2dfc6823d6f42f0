"""Families of models by name, and the parsers made for them."""

import re
from dataclasses import dataclass
from functools import lru_cache

from appliance.migrations.catalogue import catalogue
from appliance.migrations.release import Release


@dataclass(frozen=True, slots=True)
class Family:
    """named: what its models are called, without case. reasoning, tool: parsers, empty where it needs none."""

    named: str
    reasoning: str = ""
    tool: str = ""


# The first one that fits.
FAMILIES = (
    Family(r"deepseek-r1-distill", "deepseek_r1"),
    Family(r"deepseek-r1", "deepseek_r1", "deepseek_v3"),
    Family(r"deepseek-v3\.[12]", "deepseek_v3", "deepseek_v31"),
    Family(r"deepseek-v3", "", "deepseek_v3"),
    Family(r"qwq", "deepseek_r1", "hermes"),
    Family(r"qwen3.*coder", "", "qwen3_coder"),
    Family(r"qwen3.*(?:embed|rerank)"),
    Family(r"qwen3.*instruct", "", "hermes"),
    Family(r"qwen3\.5", "qwen3", "qwen3_coder"),
    Family(r"qwen3", "qwen3", "hermes"),
    Family(r"qwen2", "", "hermes"),
    Family(r"gpt-oss", "openai_gptoss", "openai"),
    Family(r"magistral", "mistral", "mistral"),
    Family(r"mistral|ministral|mixtral|devstral|codestral", "", "mistral"),
    Family(r"glm-4\.[56]", "glm45", "glm45"),
    Family(r"glm-(?:4\.7|5)", "glm47", "glm47"),
    Family(r"minimax-m2", "minimax_m2", "minimax_m2"),
    Family(r"k2-thinking", "kimi_k2", "kimi_k2"),
    Family(r"kimi-k2", "", "kimi_k2"),
    Family(r"seed-oss", "seed_oss", "seed_oss"),
    Family(r"llama-?4", "", "llama4_pythonic"),
    Family(r"llama-?3\.[1-3]", "", "llama3_json"),
    Family(r"hermes", "", "hermes"),
    Family(r"granite-3", "", "granite"),
    Family(r"phi-?4-mini", "", "phi4_mini_json"),
)


def reasons(model: str) -> bool:
    """Whether it answers with its reasoning first."""
    found = _family(model)
    return found is not None and bool(found.reasoning)


def parser(model: str, option: str, target: Release) -> str:
    """What to name in `--reasoning-parser` or `--tool-call-parser`; empty where nobody here knows."""
    found = _family(model)
    book = catalogue()
    facts = book.options[option].at(book.index(target))
    name = (found.reasoning if option == "reasoning-parser" else found.tool) if found else ""
    return name if facts and name in facts.values else ""


@lru_cache(maxsize=1024)
def _family(model: str) -> Family | None:
    return next((one for one in FAMILIES if re.search(one.named, model, re.IGNORECASE)), None)
