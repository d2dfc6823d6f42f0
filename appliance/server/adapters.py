"""LoRA adapters of one state: in its engines from its proof on, gone from them after its last request."""

import logging
from collections.abc import Iterable, Mapping

from appliance.engine.client import EngineDied
from appliance.engine.lora.stored import mark
from appliance.server.pool import Replica
from appliance.server.states import StateError

LOAD_SECONDS = 120.0
UNLOAD_SECONDS = 5.0
"""An adapter that others still use goes later, by itself."""

logger = logging.getLogger("appliance.server")


class Adapters:
    """`folders` by the name that clients use. Engines know each by name and the mark of its folder, so that two
    states whose name leads to different weights can stand side by side.
    """

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self.resident = {name: f"{name}@{mark(folder)}" for name, folder in folders.items()}

    def of(self, model: str | None) -> str | None:
        """What engines call it; None = the model itself."""
        return self.resident.get(model) if model is not None else None

    async def bring(self, replicas: Iterable[Replica]) -> None:
        """Loads what is missing. Raises StateError with the engine's reason."""
        for replica in replicas:
            for name, folder in self._folders.items():
                own, ready = self.resident[name], replica.client.ready
                if ready is not None and own in ready.adapters:
                    continue
                try:
                    await replica.client.load_adapter(own, folder, LOAD_SECONDS)
                except (ValueError, EngineDied) as error:
                    raise StateError(f"the adapter {name} cannot be loaded: {error}") from error
                except TimeoutError as error:
                    raise StateError(f"the adapter {name} was not loaded within {LOAD_SECONDS:g} s") from error

    async def leave(self, replicas: Iterable[Replica], kept: "Adapters") -> None:
        """What the state that serves does not want goes as soon as nobody uses it."""
        going = sorted({*self.resident.values()} - {*kept.resident.values()})
        for replica in replicas:
            for name in going:
                if replica.client.ready is None or name not in replica.client.ready.adapters:
                    continue
                try:
                    await replica.client.unload_adapter(name, UNLOAD_SECONDS)
                except (ValueError, EngineDied, TimeoutError) as error:
                    logger.debug("adapter %s: %s", name, error)
