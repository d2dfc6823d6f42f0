"""What each vLLM takes of its device, and how much of a CPU machine's memory its KV cache gets.

On accelerators vLLM measures for itself what its share leaves; the numbers here are then what the plan expects.
"""

from appliance.engine.checkpoint import Checkpoint
from appliance.kernels.kv import FORMATS, kv_format
from appliance.profile import Profile
from appliance.profile.types import Tokens

from ..checkpoints import Foreign
from ..errors import Refusals
from ..machine import Machine
from ..memory import MIB, Budget, Shape, weight_bytes
from ..numbers import DTYPE_BYTES
from ..plan import MemoryPlan
from ..sizes import CPU_POOL_SHARE, WRITTEN
from ..units import size

PROCESS_BYTES = 2560 * MIB
"""API server, engine core and worker with their libraries; on an accelerator its context, graphs and work space."""
LEAST_POOL = 64 * MIB


def plan_memory(
    profile: Profile, machine: Machine, checkpoint: Checkpoint | Foreign, copies: int, refusals: Refusals
) -> tuple[MemoryPlan, str]:
    """Of one copy's device (on a CPU the copies share it), and why the pool has its size. ApplianceError AP04xx."""
    budget = Budget(machine.memory, profile.hardware.memory_fraction, machine.memory - machine.available)
    sharing = copies if machine.platform == "cpu" else 1
    weights = _weights(profile, checkpoint) // (profile.parallelism.tensor * profile.parallelism.pipeline)
    shape = _shape(profile, checkpoint)
    left = budget.budget // sharing - weights - PROCESS_BYTES
    asked = profile.kv_cache.size
    wanted = asked if isinstance(asked, int) else asked.count * shape.token_bytes if isinstance(asked, Tokens) else 0
    if left < max(LEAST_POOL, wanted):
        each = f", for each of {sharing} copies" if sharing > 1 else ""
        refusals.refuse(
            "AP0403" if wanted and left >= LEAST_POOL else "AP0401",
            "kv_cache.size" if wanted and left >= LEAST_POOL else "model.source",
            f"vLLM needs {size(weights + PROCESS_BYTES)} before any token is cached (weights {size(weights)}){each}, "
            f"the budget is {size(budget.budget)}: {budget}",
            f"write {size(left)} or less, or auto"
            if wanted and left >= LEAST_POOL
            else "free memory, raise hardware.memory_fraction, or take a smaller model",
        )
    pool, reason = _pool(asked, wanted, left, machine, sharing, weights)
    tokens = pool // shape.token_bytes if shape.token_bytes else 0
    context = profile.model.max_context
    longest = (
        context if context != "auto" else 0 if isinstance(checkpoint, Foreign) else checkpoint.config.max_positions
    )
    memory = MemoryPlan(
        memory=budget.memory,
        fraction=budget.fraction,
        others=budget.others,
        reserve=budget.reserve,
        budget=budget.budget // sharing,
        budget_reason=str(budget) if sharing == 1 else f"a share of {sharing}: {budget}",
        weights=weights,
        head_copy=0,
        processes=PROCESS_BYTES,
        workspace=0,
        gathered=0,
        kv_bytes_per_token=shape.token_bytes,
        kv_bytes_per_block=shape.block_bytes,
        kv_pool=pool,
        kv_tokens=tokens,
        kv_tokens_that_fit=left // shape.token_bytes if shape.token_bytes else 0,
        full_sequences=tokens // longest if longest else 0,
        sliding_layers=0,
        sliding_excess=0,
        spare=left - pool,
    )
    return memory, reason


def _weights(profile: Profile, checkpoint: Checkpoint | Foreign) -> int:
    if isinstance(checkpoint, Foreign):
        return checkpoint.stored_bytes
    stored = checkpoint.config.stored_dtype
    return weight_bytes(checkpoint, DTYPE_BYTES.get(profile.model.dtype, DTYPE_BYTES.get(stored, 2)))


def _shape(profile: Profile, checkpoint: Checkpoint | Foreign) -> Shape:
    """Zero bytes where only vLLM knows the architecture."""
    if isinstance(checkpoint, Foreign):
        return Shape(0, 0, 0, profile.kv_cache.block_tokens)
    config, asked = checkpoint.config, profile.kv_cache.dtype
    stored = config.stored_dtype if config.stored_dtype in FORMATS else "bfloat16"
    format = kv_format(asked if asked in FORMATS else profile.model.dtype if profile.model.dtype in FORMATS else stored)
    return Shape(
        -(-config.num_layers // profile.parallelism.pipeline),
        max(1, config.num_kv_heads // profile.parallelism.tensor),
        format.content_bytes(config.head_dim),
        profile.kv_cache.block_tokens,
    )


def _pool(asked: object, wanted: int, left: int, machine: Machine, sharing: int, weights: int) -> tuple[int, str]:
    if asked != "auto":
        return wanted, WRITTEN
    if machine.platform != "cpu":
        return left, "what hardware.memory_fraction leaves, measured by vLLM"
    share = machine.memory // CPU_POOL_SHARE // sharing
    if share <= left:
        copies = f" for {sharing} copies" if sharing > 1 else ""
        return share // MIB * MIB, f"a quarter of {size(machine.memory)}{copies}"
    return left // MIB * MIB, f"what weights ({size(weights)}) and processes leave"
