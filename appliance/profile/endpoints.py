"""Section `endpoints`: what the server answers.

The one place where `on` and `off` are words, not YAML 1.1 booleans.
"""

from typing import Literal

from .setting import Section, setting

Switch = Literal["on", "off", "required", "auto"]
"""required: the appliance is not ready while the endpoint does not work; auto: served where model and appliance can."""


def switch(default: Switch, what: str, since: str = "0.31") -> Switch:
    words = "required: not ready before it works; auto: on where the model and this release have it."
    endpoint: Switch = setting(default, description=f"{what} {words}", reload="live", since=since)
    return endpoint


class Endpoints(Section):
    chat: Switch = switch("on", "POST /v1/chat/completions.")
    completions: Switch = switch("on", "POST /v1/completions.")
    responses: Switch = switch("auto", "POST /v1/responses.")
    messages: Switch = switch("auto", "POST /v1/messages.")
    embeddings: Switch = switch("auto", "POST /v1/embeddings.")
    transcriptions: Switch = switch("auto", "POST /v1/audio/transcriptions.")
    systemone: Switch = switch("on", "POST /v1/systemone: typed questions over a state.", since="0.32")
    decisions: Switch = switch("auto", "POST /v1/decisions.", since="0.33")
    metrics: Switch = switch("on", "GET /metrics for Prometheus.")
    console: Switch = switch("auto", "The web console.")
