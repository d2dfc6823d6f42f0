"""The image or pin that a deployment names, against the release that its options are now written for."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment, Entrypoint, ReleaseHint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects.serving import counts_itself
from appliance.migrations.release import Release

from ..finding import Finding
from .scene import Scene, remark

# Since this release the official image's entrypoint is `vllm serve`.
_SERVES = Release(0, 12)
OFFICIAL = re.compile(r"(?:\A|/)vllm/vllm-openai(?:-cpu)?(?=[:@]|\Z)")


def image_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    deployment, target = scene.deployments[index], scene.target
    hint = deployment.release
    if hint is None or deployment.entrypoint is Entrypoint.PROFILE:
        return
    place = scene.lines.at(hint.span.start) if hint.span.end else (0, 0)
    subject = f"{hint.source} {hint.text}"
    if hint.release is None:
        fact = "names no release, so the next start may be of another one"
        if counts_itself(hint.text):
            fact = "counts releases of its own, which do not tell the engine's"
        yield remark("VM0105", Severity.NOTE, subject, fact, f"pin {_wanted(hint, target)}", place)
    elif catalogue().index(hint.release) != catalogue().index(target):
        fact = f"is {hint.release.short}, and the options are now those of {target.short}"
        yield remark(
            "VM0104", Severity.WARNING, subject, fact, f"set it to {_wanted(hint, target)} in the same step", place
        )


def _wanted(hint: ReleaseHint, target: Release) -> str:
    """What to write there instead, as far as anybody here can know."""
    if hint.source != "image tag":
        name, equals, _ = hint.text.partition("==")
        return f"{name}=={target}" if equals else str(target)
    repository = hint.text.rpartition(":")[0]
    return f"{repository}:v{target}" if OFFICIAL.search(repository) else f"a build of it that holds vLLM {target}"


def takes_model_word(deployment: Deployment, dialect: str, target: Release) -> bool:
    """Whether the command, as it will be, takes the model as its first word."""
    if deployment.entrypoint is Entrypoint.SERVE:
        return dialect != "dotenv"
    hint = deployment.release
    official = hint is not None and OFFICIAL.search(hint.text) is not None
    return deployment.entrypoint is Entrypoint.IMAGE and official and target >= _SERVES
