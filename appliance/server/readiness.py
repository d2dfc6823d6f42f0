"""Whether the appliance can serve: a token has come out, and every required endpoint answered a real request."""

import asyncio
import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, retry_if_result, wait_exponential

from appliance.engine.protocol import Ready
from appliance.server.errors import ApiError

if TYPE_CHECKING:
    from appliance.server.context import Context
    from appliance.server.endpoints import Endpoint

logger = logging.getLogger("appliance.server")

BOOT_POLL_SECONDS = 0.02
POLL_SECONDS = 0.1
RETRY_SECONDS, MOST_RETRY_SECONDS = 0.5, 30.0
"""Pause after the first failed probe, and the one that doubling ends at."""
PROBE_SECONDS = 120.0
"""An endpoint that has not answered its probe for this long counts as failed."""


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
                await AsyncRetrying(
                    retry=retry_if_result(lambda settled: not settled),
                    wait=wait_exponential(RETRY_SECONDS, max=MOST_RETRY_SECONDS),
                    sleep=partial(_while_same, context, boot),
                )(self._settle, context, boot)
                if self.ready:
                    probed = boot.instance
            await asyncio.sleep(POLL_SECONDS if probed else BOOT_POLL_SECONDS)

    async def _settle(self, context: "Context", boot: Ready) -> bool:
        """Probes once; True when nothing is left to try on this boot of the engine."""
        if context.engine.ready is not boot:
            return True
        await self._probe(context, boot)
        if self.ready:
            logger.info("ready: %s", ", ".join(self.checks))
        elif context.engine.ready is boot:
            logger.error("not ready: %s", self.reason)
        return self.ready

    async def _probe(self, context: "Context", boot: Ready) -> None:
        from appliance.server.endpoints import ENDPOINTS

        detail = f"{boot.architecture}, {boot.kv_tokens} KV tokens in {boot.kv_dtype}; a token came out"
        checks = {"engine": Check(True, detail)}
        for endpoint in ENDPOINTS:
            if endpoint.required(context.config):
                check = await _check(context, endpoint)
                if check is not None:
                    checks[endpoint.switch or endpoint.module] = check
        self.checks = checks


async def _check(context: "Context", endpoint: "Endpoint") -> Check | None:
    """None for an endpoint without a probe. Whatever a probe raises is a reason, and never ends the watch."""
    try:
        probe = endpoint.probe()
        if probe is None:
            return None
        async with asyncio.timeout(PROBE_SECONDS):
            await probe(context)
    except ApiError as error:
        return Check(False, error.message)
    except TimeoutError:
        return Check(False, f"its probe was not answered for {PROBE_SECONDS:g} s")
    except Exception as error:
        logger.error("the probe of %s failed", endpoint.path, exc_info=error)
        return Check(False, f"its probe failed with {type(error).__name__}: {error}")
    return Check(True, "answered a real request")


async def _while_same(context: "Context", boot: Ready, seconds: float) -> None:
    """Sleeps, but not past the end of this boot of the engine: the next one is probed at once."""
    until = time.monotonic() + seconds
    while context.engine.ready is boot and time.monotonic() < until:
        await asyncio.sleep(min(POLL_SECONDS, seconds))
