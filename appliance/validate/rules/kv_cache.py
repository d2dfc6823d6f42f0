"""The KV cache against platform, model and context."""

from collections.abc import Iterator

from appliance.kernels.kv import FORMATS, kv_format

from ...diagnostics import Diagnostic
from ...profile.types import Tokens
from ..facts import Facts

PLAIN = ("auto", "float32", "float16", "bfloat16")


def offered_by_platform(facts: Facts) -> Iterator[Diagnostic]:
    dtype, platform = facts.profile.kv_cache.dtype, facts.profile.hardware.platform
    if dtype in FORMATS and platform != "auto" and platform not in kv_format(dtype).platforms:
        offered = ", ".join(name for name in FORMATS if platform in kv_format(name).platforms)
        yield facts.error("AP0210", "kv_cache.dtype", f"{dtype} is not offered on {platform}", f"offered: {offered}")


def block_against_head(facts: Facts) -> Iterator[Diagnostic]:
    cache, checkpoint = facts.profile.kv_cache, facts.readable
    if checkpoint and cache.dtype in FORMATS:
        problem = kv_format(cache.dtype).problem(checkpoint.config.head_dim, cache.block_tokens)
        if problem:
            yield facts.error("AP0211", "kv_cache.block_tokens", problem, "choose another block or format")


def pool_below_context(facts: Facts) -> Iterator[Diagnostic]:
    size, context = facts.profile.kv_cache.size, facts.profile.model.max_context
    if isinstance(size, Tokens) and size.count < (
        context if context != "auto" else facts.profile.kv_cache.block_tokens
    ):
        needs = f"one request of model.max_context needs {context}" if context != "auto" else "one block needs more"
        yield facts.error(
            "AP0212", "kv_cache.size", f"{size.count} tokens, {needs}", "enlarge it, or shorten the context"
        )


def skipping_nothing(facts: Facts) -> Iterator[Diagnostic]:
    cache = facts.profile.kv_cache
    if cache.skip_layers and cache.dtype in PLAIN:
        fact = f"with dtype {cache.dtype} every layer keeps its full precision, there is nothing to skip"
        yield facts.error("AP0213", "kv_cache.skip_layers", fact, "remove it, or choose a smaller dtype")
