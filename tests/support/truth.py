"""What an appliance says of itself, held against what its server does."""

import re
from dataclasses import dataclass
from typing import Any

import httpx
import psutil
from walk import Settings

from appliance.supervise.status import ApplianceStatus

INFO = re.compile(r"^appliance_config_info\{(.*)\} 1\.0$", re.MULTILINE)


@dataclass(frozen=True)
class Scrape:
    """One GET /metrics."""

    revision: int
    generation: int
    hash: str
    text: str

    def value(self, name: str) -> float:
        """Of the one sample under this name, labels aside."""
        (found,) = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", self.text, re.MULTILINE)
        return float(found)


def scrape(client: httpx.Client) -> Scrape:
    text = client.get("/metrics").text
    found = INFO.search(text)
    assert found, text
    labels = dict(re.findall(r'(\w+)="([^"]*)"', found.group(1)))
    return Scrape(int(labels["revision"]), int(labels["generation"]), labels["hash"], text)


def check(status: ApplianceStatus, settings: Settings, client: httpx.Client) -> None:
    """`settings` are those that have to be in force, as status has to say; nothing is being reloaded."""
    names = settings.names.split(", ")
    assert status.url == str(client.base_url).rstrip("/") == f"http://127.0.0.1:{settings.port}"
    assert (status.name, status.release, status.model) == ("walk", "0.32", names[0])
    served = scrape(client)
    assert (served.revision, served.generation) == (status.revision, status.generation)
    assert served.value("appliance_config_last_reload_successful") == (status.state == "ready"), status.reasons
    sync = {"synced": "Synced", "pinned": "OutOfSync"}.get(status.file.state if status.file else "")
    if sync:
        assert f'appliance_config_sync{{state="{sync}"}} 1.0' in served.text
    assert served.value("appliance_engine_slots") == settings.sequences
    assert f'block_size="{settings.block}"' in served.text
    models = client.get("/v1/models").json()["data"]
    assert [(model["id"], model["max_model_len"]) for model in models] == [(name, settings.context) for name in names]
    assert client.get("/version").json() == {"version": status.version, "release": status.release}
    assert client.get("/ready").status_code == 200
    _limits(settings, client)
    _processes(status)


def _limits(settings: Settings, client: httpx.Client) -> None:
    said: dict[str, Any] = {"model": "bench", "prompt": "yes the order", "temperature": 0, "ignore_eos": True}
    answer = client.post("/v1/completions", json=said)
    assert answer.status_code == 200, answer.text
    assert answer.json()["usage"]["completion_tokens"] == settings.tokens
    beyond = client.post("/v1/completions", json={**said, "max_tokens": settings.context - 1})
    assert beyond.status_code == (200 if settings.overflow == "shrink" else 400), beyond.text
    for size, refused in ((settings.body, False), (settings.body + 1, True)):
        body = b'{"model": "nobody", "prompt": "'
        body += b"x" * (size - len(body) - 2) + b'"}'
        answer = client.post("/v1/completions", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == (413 if refused else 404), answer.text
    for origin in ("https://one.example", "https://two.example"):
        allowed = client.get("/v1/models", headers={"origin": origin}).headers.get("access-control-allow-origin")
        assert allowed == (origin if origin == settings.origin else None)
    question = {
        "model": "bench",
        "state": "the order was paid",
        "questions": {"q": {"type": "noul", "instructions": "?"}},
    }
    decided = client.post("/v1/systemone", json=question)
    assert decided.status_code == (200 if settings.systemone == "on" else 404), decided.text


def _processes(status: ApplianceStatus) -> None:
    assert status.pid is not None and psutil.pid_exists(status.pid)
    serving = [one for one in status.processes if one.generation in (None, status.generation)]
    assert sorted(one.role for one in serving) == ["engine", "server"], "an engine that finishes may stand beside"
    children = {child.pid: child for child in psutil.Process(status.pid).children()}
    for one in serving:
        assert one.pid is not None and one.role in " ".join(children[one.pid].cmdline()), one
        assert one.generation in (None, status.generation) and one.state == "ready"
