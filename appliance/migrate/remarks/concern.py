"""Which findings are none of a deployment's concern: its image brings Python, another server takes its requests."""

from re import findall

from appliance.migrations.canonical import Deployment, Entrypoint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.change import Change
from appliance.migrations.release import Release
from appliance.migrations.rule import Nature, Room, Rule

_IN_IMAGES = (Entrypoint.IMAGE, Entrypoint.PLATFORM, Entrypoint.PROFILE)
_CONTAINERS = frozenset(
    {"compose", "kubernetes", "kserve", "kubeai", "kaito", "aibrix", "production-stack", "llm-d", "gpustack"}
    | {"dynamo", "vllm-runtime"}
)
# what a server in front of the engine decides by itself: parsers and the origins that may ask
_FRONT = ("VM0031", "VM0032", "VM0035", "VM3220")


def concerns(change: Change, deployment: Deployment, target: Release, dialect: str) -> bool:
    if deployment.entrypoint is Entrypoint.DYNAMO and _asked(change):
        return False
    if change.rule is None or change.rule.nature is not Nature.PLATFORM or "ython" not in change.subject:
        return True
    return _brings_python(deployment, target, dialect)


def _asked(change: Change) -> bool:
    """Whether it is about requests and their answers."""
    rule: Rule | None = change.rule
    return change.code in _FRONT or (rule is not None and rule.target.room in (Room.REQUEST, Room.STREAM))


def _brings_python(deployment: Deployment, target: Release, dialect: str) -> bool:
    if deployment.python is None or deployment.python.release is None:
        hint = deployment.release
        contained = dialect in _CONTAINERS or (hint is not None and hint.source == "image tag")
        return deployment.entrypoint not in _IN_IMAGES and not contained
    least = findall(r">=\s*(\d+)\.(\d+)", catalogue().python(target))
    return bool(least) and deployment.python.release[:2] < tuple(map(int, least[0]))
