"""Whether the appliance can serve: a token has come out, and every required endpoint answered a real request."""

import asyncio
import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, retry_if_result, wait_exponential

from appliance.server.errors import ApiError
from appliance.server.states import StateError

if TYPE_CHECKING:
    from appliance.server.context import Context
    from appliance.server.endpoints import Endpoint

logger = logging.getLogger("appliance.server")

BOOT_POLL_SECONDS = 0.02
POLL_SECONDS = 0.1
RETRY_SECONDS, MOST_RETRY_SECONDS = 0.5, 30.0
"""Pause after the first failed probe, and the one that doubling ends at."""
ANSWERED = "answered a real request"
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
        self.probed: tuple[str, ...] = ()
        """Engine boots for which all checks hold."""

    @property
    def ready(self) -> bool:
        return all(check.ok for check in self.checks.values())

    @property
    def reason(self) -> str:
        return "; ".join(f"{name}: {check.detail}" for name, check in self.checks.items() if not check.ok)

    def take_over(self, before: "Readiness") -> None:
        """What the state before knew holds until this one has looked itself; a proof has looked already."""
        if not self.probed:
            self.checks = dict(before.checks)

    async def watch(self, context: "Context") -> None:
        """Runs while the state is current: probes the engines whenever one appeared or went, again after failures."""
        while True:
            boots = context.engines.instances
            if not boots:
                self.probed = ()
                # held work waits for the next engine: for its clients this server is as ready as before
                if not context.shared.gate.closed or context.shared.gate.overdue:
                    self.checks = {"engine": Check(False, context.engines.reason)}
            elif boots != self.probed:
                await AsyncRetrying(
                    retry=retry_if_result(lambda settled: not settled),
                    wait=wait_exponential(RETRY_SECONDS, max=MOST_RETRY_SECONDS),
                    sleep=partial(_while_same, context, boots),
                )(self._settle, context, boots)
            await asyncio.sleep(POLL_SECONDS if self.probed else BOOT_POLL_SECONDS)

    async def _settle(self, context: "Context", boots: tuple[str, ...]) -> bool:
        """Probes once; True when nothing is left to try on these boots of the engines."""
        if context.engines.instances != boots:
            return True
        await self.probe(context)
        if self.ready:
            logger.info("ready: %s", ", ".join(self.checks))
        elif context.engines.instances == boots:
            logger.error("not ready: %s", self.reason)
        return self.ready

    async def probe(self, context: "Context", tried: frozenset[str] = frozenset()) -> None:
        """Asks every required endpoint once, but those that were just `tried`, by the name of their switch."""
        from appliance.server.endpoints import ENDPOINTS

        boots, boot = context.engines.instances, context.engines.ready
        if boot is None:
            return
        detail = f"{boot.architecture}, {boot.kv_tokens} KV tokens in {boot.kv_dtype}; a token came out"
        if len(context.engines.replicas) > 1:
            detail += f"; {len(boots)} of {len(context.engines.replicas)} replicas"
        checks = {"engine": Check(True, detail)}
        if context.config.adapters:
            checks["adapters"] = await _adapters(context)
        for endpoint in ENDPOINTS:
            if endpoint.required(context.config):
                known = endpoint.switch in tried
                check = Check(True, ANSWERED) if known else await _check(context, endpoint)
                if check is not None:
                    checks[endpoint.switch or endpoint.module] = check
        self.checks = checks
        if self.ready:
            self.probed = boots


async def _adapters(context: "Context") -> Check:
    """Engines that came up without them get them here."""
    try:
        await context.adapters.bring(context.engines.open)
    except StateError as error:
        return Check(False, str(error))
    return Check(True, f"{', '.join(context.config.adapters)} loaded")


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
    return Check(True, ANSWERED)


async def _while_same(context: "Context", boots: tuple[str, ...], seconds: float) -> None:
    """Sleeps, but not past the end of these boots of the engines: the next ones are probed at once."""
    until = time.monotonic() + seconds
    while context.engines.instances == boots and time.monotonic() < until:
        await asyncio.sleep(min(POLL_SECONDS, seconds))
