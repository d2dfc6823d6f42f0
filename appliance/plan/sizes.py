"""Context, batch and KV pool: what the profile asks for, what fits, and what `auto` becomes."""

from collections.abc import Callable
from dataclasses import dataclass

from appliance.profile import Profile
from appliance.profile.types import Tokens

from .errors import Refusals
from .machine import Machine
from .memory import Costs
from .units import plural, size

WRITTEN = "written in the profile"
LARGE_DEVICE = 70 * 2**30
# A step computes at most this many tokens, so that running requests get their next token soon.
CPU_STEP_TOKENS, DEVICE_STEP_TOKENS, LARGE_DEVICE_STEP_TOKENS = 512, 2048, 8192
CPU_SEQUENCES_PER_CORE, CPU_LEAST_SEQUENCES, MOST_SEQUENCES = 8, 32, 256
# On the CPU the pool shares its memory with everything else on the machine.
CPU_POOL_SHARE = 4
LEAST_CONTEXT = 256


@dataclass(frozen=True)
class Sizes:
    """Numbers with the reason of each. `blocks_that_fit` is what memory could hold, `blocks` what the pool gets."""

    context: int
    context_reason: str
    sequences: int
    sequences_reason: str
    batch_tokens: int
    batch_tokens_reason: str
    blocks: int
    pool_reason: str
    blocks_that_fit: int


def choose_sizes(profile: Profile, model_context: int, costs: Costs, machine: Machine, refusals: Refusals) -> Sizes:
    """ApplianceError AP04xx where something does not fit, with the largest that would."""
    asked = profile.model.max_context
    if asked != "auto" and asked > model_context:
        refusals.refuse(
            "AP0409",
            "model.max_context",
            f"{asked:,} tokens, the model has positions for {model_context:,}",
            f"write {model_context} or less, or auto",
        )
    sequences, sequences_reason = _sequences(profile, machine)
    batch, batch_reason = _batch_tokens(profile, machine, sequences)
    if batch < sequences and profile.engine.batching.max_sequences == "auto":
        sequences, sequences_reason = batch, "one token each of engine.batching.max_tokens"
    if batch < sequences:
        refusals.refuse(
            "AP0408",
            "engine.batching.max_tokens",
            f"{batch} tokens a step do not give each of {sequences} sequences its next token",
            f"write {sequences} or more, or lower engine.batching.max_sequences",
        )
    # without chunked prefill a step that is left open grows with the context it must take in one piece
    grows = not profile.engine.batching.chunked_prefill and profile.engine.batching.max_tokens == "auto"

    def step_tokens(context: int) -> int:
        return max(batch, context) if grows else batch

    context, context_reason = _context(profile, model_context, costs, step_tokens, sequences, refusals)
    if step_tokens(context) > batch:
        batch, batch_reason = context, "without chunked prefill one step must take a whole prompt"
    if not profile.engine.batching.chunked_prefill and batch < context:
        refusals.refuse(
            "AP0408",
            "engine.batching.max_tokens",
            f"without chunked prefill a prompt of {context:,} tokens does not fit in a step of {batch:,}",
            f"write {context} or more, or chunked_prefill: true",
        )
    fitting = costs.blocks_that_fit(context, batch, sequences)
    blocks, pool_reason = _pool(profile, costs, machine, context, sequences, fitting, refusals)
    return Sizes(
        context, context_reason, sequences, sequences_reason, batch, batch_reason, blocks, pool_reason, fitting
    )


def _sequences(profile: Profile, machine: Machine) -> tuple[int, str]:
    asked = profile.engine.batching.max_sequences
    if asked != "auto":
        return asked, WRITTEN
    if machine.platform != "cpu":
        return MOST_SEQUENCES, f"the default on {machine.platform}"
    count = min(MOST_SEQUENCES, max(CPU_LEAST_SEQUENCES, CPU_SEQUENCES_PER_CORE * machine.cores))
    return count, f"{CPU_SEQUENCES_PER_CORE} per core, {CPU_LEAST_SEQUENCES} to {MOST_SEQUENCES}"


def _batch_tokens(profile: Profile, machine: Machine, sequences: int) -> tuple[int, str]:
    asked = profile.engine.batching.max_tokens
    if asked != "auto":
        return asked, WRITTEN
    if machine.platform == "cpu":
        count, why = CPU_STEP_TOKENS, "short steps on a CPU keep running requests flowing"
    elif machine.memory >= LARGE_DEVICE:
        count, why = LARGE_DEVICE_STEP_TOKENS, f"a device with {size(machine.memory)} computes long steps fast"
    else:
        count, why = DEVICE_STEP_TOKENS, f"the default on {machine.platform}"
    if sequences > count:
        return sequences, "one token of each sequence"
    return count, why


def _context(
    profile: Profile,
    model_context: int,
    costs: Costs,
    step_tokens: Callable[[int], int],
    sequences: int,
    refusals: Refusals,
) -> tuple[int, str]:
    asked = profile.model.max_context
    wanted = model_context if asked == "auto" else asked
    largest = costs.largest_context(model_context, step_tokens, sequences)
    budget = costs.budget
    if largest < min(LEAST_CONTEXT, wanted):
        short = min(LEAST_CONTEXT, wanted)
        needed = costs.without_pool(short, step_tokens(short), sequences)
        batching = profile.engine.batching.model_dump()
        written = [f"engine.batching.{name}" for name in ("max_sequences", "max_tokens") if batching[name] != "auto"]
        lower = f"lower {' and '.join(written)}, " if written else ""
        refusals.refuse(
            "AP0401",
            written[0] if written and costs.weights < budget.budget else "model.source",
            f"the model needs {size(needed)} before any token is cached (weights {size(costs.weights)}), "
            f"the budget is {size(budget.budget)}: {budget}",
            f"{lower}free memory, raise hardware.memory_fraction, or take a smaller model or model.dtype",
        )
    if asked != "auto" and asked > largest:
        needed = costs.shape.blocks_for(asked) * costs.shape.block_bytes
        left = costs.blocks_that_fit(asked, step_tokens(asked), sequences) * costs.shape.block_bytes
        refusals.refuse(
            "AP0402",
            "model.max_context",
            f"one sequence of {asked:,} tokens needs {size(needed)} of KV cache, {size(left)} are left "
            f"of a budget of {size(budget.budget)} after weights ({size(costs.weights)}) and work space",
            f"the largest context that fits is {largest:,}; write that or auto, or a smaller kv_cache.dtype",
        )
    pooled = _asked_blocks(profile, costs)
    held = pooled * costs.shape.block_tokens if pooled is not None else wanted
    least = min(LEAST_CONTEXT, wanted) if asked == "auto" else asked
    if held < least:
        whose = "the shortest useful context has" if asked == "auto" else "one sequence of model.max_context needs"
        refusals.refuse(
            "AP0404",
            "kv_cache.size",
            f"the pool holds {held:,} tokens, {whose} {least:,}",
            f"write {size(costs.shape.blocks_for(least) * costs.shape.block_bytes)} or more, or auto",
        )
    if asked != "auto":
        return asked, WRITTEN
    if held < min(wanted, largest):
        return held, f"what kv_cache.size holds; the model has positions for {model_context:,}"
    if largest < wanted:
        return largest, f"what fits in memory; the model has positions for {model_context:,}"
    return wanted, "the model's own"


def _asked_blocks(profile: Profile, costs: Costs) -> int | None:
    """Blocks of a written kv_cache.size; None for auto."""
    asked = profile.kv_cache.size
    if isinstance(asked, Tokens):
        return costs.shape.blocks_for(asked.count)
    return None if asked == "auto" else asked // costs.shape.block_bytes


def _pool(
    profile: Profile,
    costs: Costs,
    machine: Machine,
    context: int,
    sequences: int,
    fitting: int,
    refusals: Refusals,
) -> tuple[int, str]:
    shape = costs.shape
    asked, per_sequence = _asked_blocks(profile, costs), shape.blocks_for(context)
    if asked is not None:
        if asked > fitting:
            refusals.refuse(
                "AP0403",
                "kv_cache.size",
                f"{size(asked * shape.block_bytes)} are wanted, {size(fitting * shape.block_bytes)} fit beside weights "
                f"({size(costs.weights)}) and work space in a budget of {size(costs.budget.budget)}",
                f"write {fitting * shape.block_tokens} tokens or less, or auto",
            )
        return asked, WRITTEN
    if machine.platform != "cpu":
        return fitting, "what weights and work space leave"
    needed = per_sequence * sequences
    share = max(per_sequence, machine.memory // CPU_POOL_SHARE // shape.block_bytes)
    blocks = min(needed, share, fitting)
    if blocks == needed:
        return blocks, f"{plural(sequences, 'sequence')} of {context:,} tokens"
    if blocks == share:
        what = "one sequence of max_context" if share == per_sequence else f"a quarter of {size(machine.memory)}"
        return blocks, f"{what}; all {sequences} sequences at full length would take {size(needed * shape.block_bytes)}"
    return (
        blocks,
        f"what fits; {plural(sequences, 'sequence')} of {context:,} would take {size(needed * shape.block_bytes)}",
    )
