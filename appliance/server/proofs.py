"""How a state proves itself: requests through its own routes, one line of the table each."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import httpx
from starlette.types import ASGIApp

from appliance.server.config import ServerConfig
from appliance.server.guard import inside_client
from appliance.server.states import StateError

UNABLE = 501
Client = httpx.AsyncClient


class NotServedError(Exception):
    """The model cannot serve the endpoint: no failure where the profile does not require it."""


@dataclass(frozen=True)
class Proof:
    """`run` says what came out; raises StateError. A 501 where the endpoint is not `required` is no failure."""

    name: str
    switch: str
    """The profile's `endpoints.<switch>`: tried where that is not off."""
    run: Callable[[Client], Awaitable[str]]


async def _post(client: Client, path: str, body: dict[str, object]) -> dict[str, object]:
    response = await client.post(path, json=body)
    answer = response.json()
    if response.status_code == UNABLE:
        raise NotServedError(answer["error"]["message"])
    if response.status_code != 200:
        raise StateError(f"{path} answered {response.status_code}: {answer['error']['message']}")
    return dict(answer)


def _tokens(path: str, answer: dict[str, object]) -> str:
    match answer:
        case {"usage": {"completion_tokens": int(tokens)}} if tokens >= 1:
            return f"{tokens} token"
    raise StateError(f"{path} answered without a token")


async def _chat(client: Client) -> str:
    path = "/v1/chat/completions"
    messages = [{"role": "user", "content": "Hi"}]
    return _tokens(path, await _post(client, path, {"messages": messages, "max_tokens": 1, "temperature": 0}))


async def _completion(client: Client) -> str:
    path = "/v1/completions"
    return _tokens(path, await _post(client, path, {"prompt": "Hi", "max_tokens": 1, "temperature": 0}))


async def _decision(client: Client) -> str:
    path = "/v1/systemone"
    question = {"type": "noul", "instructions": "Ready?"}
    answer = await _post(client, path, {"state": "ready", "questions": {"ready": question}})
    match answer:
        case {"answers": {"ready": {"noul": float(share)}}} if math.isfinite(share):
            return f"noul {share:.3f}"
    raise StateError(f"{path} answered without a probability")


PROOFS: tuple[Proof, ...] = (
    Proof("chat", "chat", _chat),
    Proof("completion", "completions", _completion),
    Proof("decision", "systemone", _decision),
)


def switches(config: ServerConfig) -> frozenset[str]:
    """The endpoints that `run` tries."""
    return frozenset(proof.switch for proof in PROOFS if config.endpoints.get(proof.switch, "on") != "off")


async def run(
    app: ASGIApp, config: ServerConfig, lacking: dict[str, str], seconds: float, stage: list[str], at_once: int = 1
) -> dict[str, str]:
    """What each proof brought and in which time; `stage[0]` names those that have not come. Raises StateError.

    `lacking`: proofs that this model cannot give, and why. `at_once`: how many the queue of `app` has room for.
    """
    tried = [proof for proof in PROOFS if proof.switch in switches(config)]
    pending = dict.fromkeys(proof.name for proof in tried)

    async def one(client: Client, proof: Proof) -> str:
        try:
            if proof.name in lacking:
                raise NotServedError(lacking[proof.name])
            async with room:
                begun = time.monotonic()
                detail = f"{await proof.run(client)} in {time.monotonic() - begun:.3f} s"
        except NotServedError as error:
            if config.endpoints.get(proof.switch) == "required":
                raise StateError(f"endpoints.{proof.switch} is required, but {error}") from None
            detail = f"not served: {error}"
        except httpx.HTTPError as error:
            raise StateError(f"a {proof.name} failed: {type(error).__name__}: {error}") from error
        except StateError as error:
            raise StateError(f"a {proof.name} failed: {error}") from None
        del pending[proof.name]
        stage[0] = _named(pending)
        return detail

    room = asyncio.Semaphore(at_once)
    stage[0] = _named(pending)
    async with inside_client(app, seconds) as client:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {proof.name: group.create_task(one(client, proof)) for proof in tried}
        except* StateError as failures:
            raise failures.exceptions[0] from None
    return {name: task.result() for name, task in tasks.items()}


def _named(names: Iterable[str]) -> str:
    return " and ".join(f"a {name}" for name in names)
