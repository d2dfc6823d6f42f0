"""Backend vllm: is the command that starts it here, and will it take this environment?"""

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


def variables(facts: Facts) -> Iterator[Diagnostic]:
    """vLLM gets the appliance's environment, and ends at a variable with its prefix that it does not know."""
    if facts.profile.engine.backend != "vllm":
        return
    from appliance.migrations.catalogue import catalogue
    from appliance.migrations.release import release

    known, wanted = catalogue(), facts.profile.release
    index = known.index(release(wanted))
    for name in sorted(facts.environ):
        if not name.startswith("VLLM_") or ((entry := known.env.get(name)) and entry.exists(index)):
            continue
        fact = f"the environment has {name}, which vLLM {wanted} does not know and does not start with"
        fix = "unset it; where Kubernetes sets it for a Service of that name: enableServiceLinks: false"
        yield facts.error("AP0311", "engine.backend", fact, fix)
