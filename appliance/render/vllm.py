"""`render vllm`: the command that each vLLM process is started with, as a shell takes it."""

import shlex
from collections.abc import Sequence

from appliance.vllm.config import VllmConfig

from .base import Options, Rendered, Subject

RAY_WORKER = 'ray start --block --address="${RAY_HEAD_ADDRESS:?}"'


class Vllm:
    def render(self, subject: Subject, options: Options) -> Rendered:
        config, nodes = subject.plan.vllm, subject.profile.parallelism.nodes
        if config is None:
            fact = "the profile runs the appliance's own engine, there is no vLLM to start"
            subject.refuse("AP0812", "engine.backend", fact, "write engine.backend: vllm")
        rank = options.node_rank
        if not 0 <= rank < nodes:
            fact = f"there is no machine {rank}, parallelism.nodes is {nodes}"
            subject.refuse("AP0813", "parallelism.nodes", fact, f"--node-rank 0 to {nodes - 1}")
        head = [f"# Written by `{subject.command}`; edit the profile, not this file."]
        if rank:
            return Rendered("\n".join([*head, *_follower(config, rank, nodes)]) + "\n")
        parts = [_replica(config, index, nodes) for index in range(len(config.replicas))]
        return Rendered("\n".join([*head, *(line for part in parts for line in part)]) + "\n")


def _replica(config: VllmConfig, index: int, nodes: int) -> list[str]:
    count = len(config.replicas)
    which = (
        f" for replica {index} of {count}" if count > 1 else f" on the first of {nodes} machines" if nodes > 1 else ""
    )
    told = f"# What `appliance up` starts{which}; it puts the socket into its state folder."
    words = [*config.arguments, "--uds", f"vllm-{index}.sock"]
    return [told, *_lines(config, config.environment | config.replicas[index], words)]


def _follower(config: VllmConfig, rank: int, nodes: int) -> list[str]:
    """On the other machines: no server, the same engine."""
    told = f"# Machine {rank} of {nodes} (they count from 0)"
    if "--nnodes" not in config.arguments:
        return [f"{told}; vLLM on the first one finds it through Ray.", RAY_WORKER]
    words = list(config.arguments)
    words[words.index("--node-rank") + 1] = str(rank)
    return [
        f"{told}; the first one is what `appliance up` starts.",
        *_lines(config, config.environment | config.replicas[0], [*words, "--headless"]),
    ]


def _lines(config: VllmConfig, environment: dict[str, str], words: Sequence[str]) -> list[str]:
    without = [f"-u {name}" for name in config.withheld]
    given = [f"{name}={shlex.quote(value)}" for name, value in sorted(environment.items())]
    command = shlex.join([*config.command, "serve", words[0]])
    lines = ["env " + " ".join(without), *given, command, *(shlex.join(group) for group in _groups(words[1:]))]
    return [line + " \\" for line in lines[:-1]][:1] + [f"  {line} \\" for line in lines[1:-1]] + [f"  {lines[-1]}"]


def _groups(words: Sequence[str]) -> list[list[str]]:
    """An option and its values on one line."""
    groups: list[list[str]] = []
    for word in words:
        if word.startswith("--") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups
