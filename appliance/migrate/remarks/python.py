"""Which platform requirements concern a deployment."""

from re import findall

from appliance.migrations.canonical import Deployment, Entrypoint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.change import Change
from appliance.migrations.release import Release
from appliance.migrations.rule import Nature

_IN_IMAGES = (Entrypoint.IMAGE, Entrypoint.PLATFORM, Entrypoint.PROFILE)
_CONTAINERS = frozenset(
    {"compose", "kubernetes", "kserve", "kubeai", "kaito", "aibrix", "production-stack", "llm-d", "gpustack"}
)


def concerns(change: Change, deployment: Deployment, target: Release, dialect: str) -> bool:
    """Images bring their own Python."""
    if change.rule is None or change.rule.nature is not Nature.PLATFORM or "ython" not in change.subject:
        return True
    if deployment.python is None or deployment.python.release is None:
        hint = deployment.release
        contained = dialect in _CONTAINERS or (hint is not None and hint.source == "image tag")
        return deployment.entrypoint not in _IN_IMAGES and not contained
    least = findall(r">=\s*(\d+)\.(\d+)", catalogue().python(target))
    return bool(least) and deployment.python.release[:2] < tuple(map(int, least[0]))
