"""Whether the appliance can serve: vLLM answers, and everything that is served has answered a real request."""

import asyncio
import logging
from typing import TYPE_CHECKING

from appliance.server.proxy import elastic
from appliance.server.readiness import Check
from appliance.server.states import StateError

if TYPE_CHECKING:
    from appliance.server.proxy.state import ProxyState

logger = logging.getLogger("appliance.server")

POLL_SECONDS = 0.05
RETRY_SECONDS = 2.0
PROBE_SECONDS = 120.0
BOOTING = Check(False, "the engine is booting")


class Readiness:
    """`checks` by name; ready when all of them hold."""

    def __init__(self) -> None:
        self.checks: dict[str, Check] = {"engine": BOOTING}
        self._probed: tuple[int, ...] | None = None

    @property
    def reason(self) -> str:
        return "; ".join(f"{name}: {check.detail}" for name, check in self.checks.items() if not check.ok)

    def proven(self, state: "ProxyState") -> None:
        """These boots have answered real requests."""
        self._probed = state.upstreams.boots
        members = state.upstreams.members
        served = f"vLLM; {len(state.upstreams.up)} of {len(members)} replicas" if len(members) > 1 else "vLLM"
        self.checks = {"engine": Check(True, f"{served}; a real answer came out")}

    async def watch(self, state: "ProxyState") -> None:
        """Runs while the state is current: asks each vLLM that came up for real answers, again after failures."""
        while True:
            boots, gate = state.upstreams.boots, state.shared.gate
            if not boots:
                self._probed = None
                # held work waits for the next engine: for its clients this server is as ready as before
                if not gate.closed or gate.overdue:
                    self.checks = {"engine": Check(False, state.upstreams.reason)}
            elif boots != self._probed:
                await self._probe(state)
                if not self.reason:
                    logger.info("ready: %s", self.checks["engine"].detail)
                else:
                    await asyncio.sleep(RETRY_SECONDS)
            await asyncio.sleep(POLL_SECONDS)

    async def _probe(self, state: "ProxyState") -> None:
        stage = ["vLLM"]
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await elastic.fit(state.upstreams.up, state.config.elastic_size)
                await state.adapters.bring(state.upstreams.up)
                for member in state.upstreams.up:
                    await state.probe(member, PROBE_SECONDS, stage)
        except StateError as error:
            self._failed(f"{error}")
        except TimeoutError:
            self._failed(f"no answer from {stage[0]} within {PROBE_SECONDS:g} s")
        else:
            self.proven(state)

    def _failed(self, why: str) -> None:
        self.checks = {"engine": Check(True, "vLLM answers"), "proof": Check(False, why)}
        logger.error("not ready: %s", why)
