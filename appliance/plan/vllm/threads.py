"""OpenMP of vLLM processes that share a CPU, with each other and, during a reload, with the next generation.

vLLM binds its threads to the first cores by number and lets them spin between two steps: a second process then gets the
same cores, and hardly ever their time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..units import plural

BIND, THREADS, WAIT = "VLLM_CPU_OMP_THREADS_BIND", "OMP_NUM_THREADS", "OMP_WAIT_POLICY"
UNBOUND = "nobind"
BINDING = frozenset({BIND, "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND"})
WAITING = frozenset({WAIT, "GOMP_SPINCOUNT", "KMP_BLOCKTIME"})


@dataclass(frozen=True)
class Threads:
    """`environment`: what each copy's adds."""

    environment: dict[str, str]
    reason: str


def share(cores: int, numa_nodes: int, ranks: int, copies: int, own: Mapping[str, str]) -> Threads:
    """`ranks`: processes of one copy that compute. `own`: what the operator's environment says, which stands."""
    environment, told = {}, ["OpenMP threads"]
    elsewhere = bool(BINDING & own.keys()) and own.get(BIND) != UNBOUND
    by_nodes = copies == 1 and 1 < numa_nodes >= ranks
    if not elsewhere and THREADS not in own and not by_nodes:
        count = max(1, cores // (copies * ranks))
        environment[THREADS] = str(count)
        told = [plural(count, "OpenMP thread") + (" per process" if copies * ranks > 1 else "")]
    if not elsewhere and BIND not in own:
        if by_nodes:
            # each rank has memory of its own there
            told.append("bound to NUMA nodes by vLLM")
        else:
            environment[BIND] = UNBOUND
            told.append("bound to no core")
    if not WAITING & own.keys():
        environment[WAIT] = "PASSIVE"
        told.append("asleep when idle")
    reasons = [", ".join(told)] if environment else []
    if own:
        reasons.append(f"the environment's {' '.join(f'{name}={value}' for name, value in sorted(own.items()))} stands")
    return Threads(environment, "; ".join(reasons))
