"""Whether the appliance can serve: a token has come out, and every required endpoint answered a real request."""

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.server.errors import ApiError

if TYPE_CHECKING:
    from appliance.server.context import Context

logger = logging.getLogger("appliance.server")

BOOT_POLL_SECONDS = 0.02
POLL_SECONDS = 0.1
RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class Check:
    ok: bool
    detail: str


class Readiness:
    """`checks` by name; ready when all of them hold."""

    def __init__(self) -> None:
        self.checks: dict[str, Check] = {"engine": Check(False, "the engine is booting")}

    @property
    def ready(self) -> bool:
        return all(check.ok for check in self.checks.values())

    @property
    def reason(self) -> str:
        return "; ".join(f"{name}: {check.detail}" for name, check in self.checks.items() if not check.ok)

    async def watch(self, context: "Context") -> None:
        """Runs for the life of the server: probes each engine that appears, again after failures."""
        probed: str | None = None
        while True:
            boot = context.engine.ready
            if boot is None:
                probed = None
                self.checks = {"engine": Check(False, context.engine.reason)}
            elif boot.instance != probed:
                await self._probe(context)
                if self.ready:
                    probed = boot.instance
                    logger.info("ready: %s", ", ".join(self.checks))
                elif context.engine.ready is boot:
                    logger.error("not ready: %s", self.reason)
                    await asyncio.sleep(RETRY_SECONDS)
            await asyncio.sleep(POLL_SECONDS if probed else BOOT_POLL_SECONDS)

    async def _probe(self, context: "Context") -> None:
        from appliance.server.endpoints import ENDPOINTS

        boot = context.engine.ready
        assert boot is not None
        detail = f"{boot.architecture}, {boot.kv_tokens} KV tokens in {boot.kv_dtype}; a token came out"
        checks = {"engine": Check(True, detail)}
        for endpoint in ENDPOINTS:
            probe = endpoint.probe() if endpoint.required(context.config) else None
            if probe is None:
                continue
            name = endpoint.switch or endpoint.module
            try:
                await probe(context)
                checks[name] = Check(True, "answered a real request")
            except ApiError as error:
                checks[name] = Check(False, error.message)
            except Exception as error:
                logger.error("the probe of %s failed", name, exc_info=error)
                checks[name] = Check(False, f"its probe failed with {type(error).__name__}; the log has the details")
        self.checks = checks
