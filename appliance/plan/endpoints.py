"""Which endpoints are served: `auto` becomes on or off here."""

from typing import cast

from appliance.engine.checkpoint.task import Task
from appliance.profile import Profile
from appliance.server.config import EndpointSwitch

# Endpoints this release has, with the tasks a checkpoint needs to have for them.
SERVED: dict[str, tuple[str, ...]] = {
    "chat": ("generate", "unknown"),
    "completions": ("generate", "unknown"),
    "systemone": ("generate", "unknown"),
    "metrics": ("generate", "embed", "classify", "transcribe", "unknown"),
}


def choose_endpoints(profile: Profile, task: Task) -> dict[str, tuple[EndpointSwitch, str]]:
    """Switch and reason by endpoint."""
    chosen: dict[str, tuple[EndpointSwitch, str]] = {}
    for name in type(profile.endpoints).model_fields:
        switch = cast(EndpointSwitch, getattr(profile.endpoints, name))
        written = name in profile.endpoints.model_fields_set
        if switch != "auto":
            chosen[name] = switch, "written in the profile" if written else "the default"
        elif name not in SERVED:
            chosen[name] = "off", "this release does not serve it"
        elif task not in SERVED[name]:
            chosen[name] = "off", f"the checkpoint's task is {task}"
        else:
            chosen[name] = "on", "this release and the model can"
    return chosen
