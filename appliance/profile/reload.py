"""Section `reload`: how edits of the profile reach the running appliance."""

from typing import Literal

from .setting import Section, setting
from .types import Duration

Watch = bool | Literal["auto"]


class Reload(Section):
    watch: Watch = setting(
        "auto", description="Follow edits of the profile's file; auto: where the appliance can.", reload="live"
    )
    strategy: Literal["auto", "surge", "drain"] = setting(
        "auto",
        description="Boot the new engine beside the old one (surge) or after it (drain); auto: surge where both fit.",
        reload="live",
    )
    drain: Duration = setting(
        30.0, description="Longest time running requests get to finish.", unit="seconds", reload="live"
    )
    probe: bool = setting(True, description="Ask a new engine for a real token before it takes over.", reload="live")
