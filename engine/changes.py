"""What servers and supervisor change in a running engine, and how it answers them."""

import logging

from msgspec import structs

from appliance.engine import logs
from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.core.engine import Engine
from appliance.engine.protocol import (
    AdapterAnswer,
    LoadAdapter,
    LoadedAdapter,
    Ready,
    Reconfigure,
    Reconfigured,
    UnloadAdapter,
)

logger = logging.getLogger(__name__)

Change = Reconfigure | LoadAdapter | UnloadAdapter
Answer = Reconfigured | AdapterAnswer


class Changes:
    """`ready` is what a server is told of the engine as it is now."""

    def __init__(self, engine: Engine, ready: Ready) -> None:
        self.ready = structs.replace(ready, adapters=_loaded(engine))
        self._engine = engine
        self._leaving: dict[int, list[tuple[bytes, int]]] = {}
        """Who waits for an adapter's end, and under which reference, by its key."""

    def take(self, server: bytes, change: Change) -> Answer | None:
        """Between two steps. None: the answer comes out of `late_answers`."""
        match change:
            case Reconfigure(reference=reference, settings=settings):
                return Reconfigured(reference=reference, error=self._reconfigure(settings))
            case LoadAdapter(reference=reference, name=name, path=path):
                return AdapterAnswer(reference=reference, error=self._load(name, path))
            case UnloadAdapter(reference=reference, name=name):
                if name not in self._engine.adapters.by_name:
                    return AdapterAnswer(reference=reference, error=f"no adapter {name!r} is loaded")
                key = self._engine.adapters.unload(name)
                self.ready = structs.replace(self.ready, adapters=_loaded(self._engine))
                self._leaving.setdefault(key, []).append((server, reference))
        return None

    def late_answers(self) -> list[tuple[bytes, Answer]]:
        """To those who waited for the last request of an adapter."""
        answers: list[tuple[bytes, Answer]] = []
        for key in self._engine.adapters.take_gone():
            answers += [(server, AdapterAnswer(reference=asked)) for server, asked in self._leaving.pop(key, ())]
        return answers

    def _reconfigure(self, settings: dict[str, bool | int | str]) -> str | None:
        before = self._engine.config
        try:
            config = self._engine.reconfigure(settings)
        except ValueError as error:
            return str(error)
        if (config.log_level, config.log_format) != (before.log_level, before.log_format):
            logs.configure(config.log_level, config.log_format)
        self.ready = structs.replace(self.ready, max_context=config.max_context, max_sequences=config.max_sequences)
        logger.info("takes new settings: %s", ", ".join(f"{name} {value}" for name, value in settings.items()))
        return None

    def _load(self, name: str, path: str) -> str | None:
        try:
            self._engine.adapters.load(name, path)
        except CheckpointError as error:
            return str(error)
        except Exception as error:  # those who are being served must not pay for a fault in reading an adapter
            logger.exception("adapter %s cannot be loaded", name)
            return f"{path}: {type(error).__name__}: {error}"
        self.ready = structs.replace(self.ready, adapters=_loaded(self._engine))
        logger.info("adapter %s is loaded from %s", name, path)
        return None


def _loaded(engine: Engine) -> dict[str, LoadedAdapter]:
    return {
        name: LoadedAdapter(adapter.folder, adapter.facts.fingerprint.hex(), adapter.facts.rank, adapter.facts.nbytes)
        for name, adapter in engine.adapters.by_name.items()
    }
