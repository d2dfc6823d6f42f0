"""A bound on the time that code from a checkpoint may run."""

import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


class _Stop(BaseException):
    """Raised inside the overdue thread; no template can catch it."""


def run_limited(work: Callable[[], Result], seconds: float) -> Result:
    """`work()` in a thread of its own, which is stopped at its next bytecode after `seconds`; raises TimeoutError."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except _Stop:
            future.cancel()
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=run, name="chat-template", daemon=True)
    thread.start()
    try:
        return future.result(seconds)
    except TimeoutError:
        if thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stop))
        raise
