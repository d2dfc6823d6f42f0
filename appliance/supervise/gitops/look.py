"""Starts a look and waits for its answer, for a limited time."""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import msgspec

from appliance.child import command, environment

from .errors import FailedError
from .exchange import Answer, Ask, Failed

MODULE = "appliance.supervise.gitops.main"


async def look(make: Callable[[Path], Ask], folder: Path, seconds: float) -> Answer:
    """`make` gets a private folder that lasts as long as the look. Cancelled, or late: whatever hangs is killed."""
    scratch = folder / "look"
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        scratch.mkdir(mode=0o700, parents=True)
        return await _ask(make(scratch), seconds)
    except FailedError as error:
        return Failed(code=error.code, fact=error.fact, fix=error.fix)
    except OSError as error:
        fact = f"the state folder cannot be used: {error.strerror}"
        return Failed(code="AP1009", fact=fact, fix=f"make room in {folder}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


async def _ask(ask: Ask, seconds: float) -> Answer:
    child = await _start()
    try:
        async with asyncio.timeout(seconds):
            out, err = await child.communicate(msgspec.json.encode(ask))
    except TimeoutError:
        fix = "see that the address answers"
        return Failed(code="AP1008", fact=f"the repository did not answer within {seconds:g} s", fix=fix)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
    try:
        return msgspec.json.decode(out, type=Answer)
    except msgspec.DecodeError:
        last = err.decode(errors="replace").strip().rpartition("\n")[2]
        fact = f"the look at the repository ended early ({child.returncode}): {last[:200]}"
        return Failed(code="AP1009", fact=fact, fix="it is looked at again later")


async def _start() -> asyncio.subprocess.Process:
    """Not left half started where the caller is cancelled meanwhile."""
    pipe = asyncio.subprocess.PIPE
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command(MODULE), stdin=pipe, stdout=pipe, stderr=pipe, env=environment(), start_new_session=True
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        child = await starting
        child.kill()
        await child.wait()
        raise
