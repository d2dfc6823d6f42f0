"""Which endpoints are served: `auto` becomes on or off here."""

from typing import cast

from appliance.engine.checkpoint.task import Task
from appliance.profile import Profile
from appliance.server.config import EndpointSwitch
from appliance.validate.not_yet import missing_with

GENERATING = ("chat", "completions", "responses", "messages", "systemone", "decisions")
ONLY_FOR = {"embeddings": "embed", "transcriptions": "transcribe"}


def switches(profile: Profile, task: Task) -> dict[str, EndpointSwitch]:
    """By endpoint, `auto` resolved."""
    written = {name: getattr(profile.endpoints, name) for name in type(profile.endpoints).model_fields}
    resolved = {path.removeprefix("endpoints."): value for path, (value, _) in resolve_auto(profile, task).items()}
    return cast(dict[str, EndpointSwitch], written | resolved)


def resolve_auto(profile: Profile, task: Task) -> dict[str, tuple[EndpointSwitch, str]]:
    """By dotted path: what each endpoint that stands at auto becomes, and why."""
    missing = missing_with(profile.engine.backend)
    chosen: dict[str, tuple[EndpointSwitch, str]] = {}
    for name in type(profile.endpoints).model_fields:
        path = f"endpoints.{name}"
        if getattr(profile.endpoints, name) != "auto":
            continue
        if path in missing:
            chosen[path] = "off", "not part of this release"
        elif not _can(name, task):
            chosen[path] = "off", f"the checkpoint's task is {task}"
        else:
            chosen[path] = "on", "the release has it and the model can"
    return chosen


def _can(name: str, task: Task) -> bool:
    return task in ("generate", "unknown") if name in GENERATING else ONLY_FOR.get(name, task) == task
