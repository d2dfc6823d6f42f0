"""LoRA adapters on running vLLM processes come and go through vLLM's own routes, which only this server reaches.

vLLM knows each by name and the mark of its folder: a candidate's stands beside the one that serves under the same name.
"""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING

import httpx

from appliance.engine.lora.stored import mark
from appliance.server.states import StateError

if TYPE_CHECKING:
    from appliance.server.proxy.upstream import Upstream

LOAD, UNLOAD = "/v1/load_lora_adapter", "/v1/unload_lora_adapter"
SECONDS = 120.0

logger = logging.getLogger("appliance.server")


class Adapters:
    """Those of one state. `folders` by the name that clients use."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self.resident = {name: f"{name}@{mark(folder)}" for name, folder in folders.items()}
        self._held: set[Upstream] = set()

    def of(self, model: object) -> str | None:
        """What vLLM calls it; None = the model itself."""
        return self.resident.get(model) if isinstance(model, str) else None

    async def bring(self, members: Iterable["Upstream"]) -> None:
        """Loads what is missing. Raises StateError with vLLM's own words."""
        for member in members:
            if member not in self._held:
                self._held.add(member)
                member.adapters.update(self.resident.values())
            member.models = await _cards(member)
            for name, folder in self._folders.items():
                if not _has(member, self.resident[name]):
                    await self._load(member, name, folder)

    async def _load(self, member: "Upstream", name: str, folder: str) -> None:
        try:
            body = {"lora_name": self.resident[name], "lora_path": folder}
            answer = await member.client.post(LOAD, json=body, timeout=SECONDS)
        except httpx.HTTPError as error:
            raise StateError(f"the adapter {name} cannot be loaded: {error or type(error).__name__}") from error
        member.models = await _cards(member)
        # another server of ours may have been faster
        if answer.status_code != 200 and not _has(member, self.resident[name]):
            raise StateError(f"the adapter {name} cannot be loaded: {_words(answer)}")

    async def leave(self) -> None:
        """After the last request that could name them, or instead of it: what no other state holds goes."""
        for member in self._held:
            member.adapters.subtract(self.resident.values())
            going = [own for own in self.resident.values() if member.adapters[own] <= 0 and _has(member, own)]
            # a vLLM that ends with this state takes them along
            if not going or member.holders == 1 or not member.up:
                continue
            try:
                for own in going:
                    await member.client.post(UNLOAD, json={"lora_name": own}, timeout=SECONDS)
                member.models = await _cards(member)
            except (httpx.HTTPError, StateError) as error:
                logger.error("adapters stay loaded: %s", error)


async def renamed(pieces: AsyncIterator[bytes], own: bytes, name: bytes) -> AsyncIterator[bytes]:
    """A stream in which every `own` is `name`, also where it lies across two pieces."""
    rest = b""
    async for piece in pieces:
        text = (rest + piece).replace(own, name)
        begun = next((size for size in range(min(len(own) - 1, len(text)), 0, -1) if text.endswith(own[:size])), 0)
        rest = text[len(text) - begun :]
        if whole := text[: len(text) - begun]:
            yield whole
    if rest:
        yield rest


def _has(member: "Upstream", own: str) -> bool:
    return any(card["id"] == own for card in member.models)


async def _cards(member: "Upstream") -> list[dict[str, object]]:
    try:
        answer = await member.client.get("/v1/models", timeout=SECONDS)
        return list(answer.json()["data"])
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise StateError(f"vLLM does not say which models it serves: {error}") from error


def _words(answer: httpx.Response) -> str:
    try:
        body = answer.json()
        return str(body.get("error", body).get("message", body))
    except (ValueError, AttributeError):
        return answer.text[:300]
