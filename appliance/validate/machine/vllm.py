"""Backend vllm: is the command that starts it here?"""

import shutil
from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts


def command(facts: Facts) -> Iterator[Diagnostic]:
    engine = facts.profile.engine
    if engine.backend == "vllm" and shutil.which(engine.vllm.command[0], path=facts.environ.get("PATH")) is None:
        fact = f"no program {engine.vllm.command[0]} on this machine"
        fix = f"install vLLM {facts.profile.release}, or write the command's path: [/opt/vllm/bin/vllm]"
        yield facts.error("AP0310", "engine.vllm.command", fact, fix)
