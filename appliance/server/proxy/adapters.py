"""LoRA adapters on running vLLM processes come and go through vLLM's own routes, which only this server reaches."""

import logging
from collections.abc import Iterable
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
    """Those of one state: folder by name."""

    def __init__(self, wanted: dict[str, str]) -> None:
        self.wanted = wanted
        self._marks = {name: mark(folder) for name, folder in wanted.items()}
        self._brought: dict[Upstream, dict[int, dict[str, str]]] = {}
        """What this state itself loaded, by boot of the process."""

    async def bring(self, members: Iterable["Upstream"]) -> None:
        """Loads what is missing. Raises StateError with vLLM's own words."""
        for member in members:
            present = {card["id"]: card.get("root") for card in await _cards(member) if card.get("parent")}
            for name, folder in self.wanted.items():
                loaded = member.marks.get((member.boots, name), self._marks[name])
                if present.get(name) == folder and loaded == self._marks[name]:
                    continue
                body = {"lora_name": name, "lora_path": folder, "load_inplace": name in present}
                answer = await member.client.post(LOAD, json=body, timeout=SECONDS)
                if answer.status_code != 200:
                    raise StateError(f"the adapter {name} cannot be loaded: {_words(answer)}")
                member.marks[member.boots, name] = self._marks[name]
                self._brought.setdefault(member, {}).setdefault(member.boots, {})[name] = folder
            member.models = await _cards(member)

    async def withdraw(self, members: Iterable["Upstream"]) -> None:
        """A candidate that was dropped takes back what it brought."""
        for member in members:
            await self._unload(member, list(self._brought.get(member, {}).get(member.boots, {})))

    async def leave(self, members: Iterable["Upstream"], kept: dict[str, str]) -> None:
        """After the last request that could name them: what the state that serves now does not want goes."""
        for member in members:
            await self._unload(member, [name for name in self.wanted if name not in kept])

    async def _unload(self, member: "Upstream", names: list[str]) -> None:
        if not member.up or not names:
            return
        try:
            for name in names:
                await member.client.post(UNLOAD, json={"lora_name": name}, timeout=SECONDS)
            member.models = await _cards(member)
        except (httpx.HTTPError, StateError) as error:
            logger.error("adapters stay loaded: %s", error)


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
