"""Section `observability`: what the appliance says about itself."""

from typing import Literal

from .setting import Section, setting


class Observability(Section):
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", description="Least severe messages that are logged.", reload="live", option="uvicorn-log-level"
    )
    log_format: Literal["text", "json"] = setting(
        "text",
        description="Lines for people, or one JSON object per line.",
        reload="live",
        option="logging-config.formatter",
    )
    access_log: bool = setting(
        True, description="Log one line per request.", reload="live", option="disable-uvicorn-access-log"
    )
