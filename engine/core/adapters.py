"""Adapters by name: which are there, who uses them, when one may go. Their weights lie with the runner."""

from collections import Counter
from dataclasses import dataclass

from appliance.engine.core.types import AdapterFacts, Runner


@dataclass(frozen=True)
class Adapter:
    """A loaded adapter. Another one of the same name has another key."""

    key: int
    name: str
    folder: str
    facts: AdapterFacts


class Adapters:
    """A name leads to one adapter at a time; one that has lost its name stays until its last request has ended."""

    def __init__(self, runner: Runner) -> None:
        self.by_name: dict[str, Adapter] = {}
        self._runner = runner
        self._last_key = 0
        self._users: Counter[int] = Counter()
        self._leaving: set[int] = set()
        self._gone: list[int] = []

    def load(self, name: str, folder: str) -> None:
        """For requests from now on; those of an earlier adapter of this name end with that one.

        CheckpointError where it cannot be served: what was there before stays.
        """
        self._last_key += 1
        facts = self._runner.load_adapter(self._last_key, folder)
        before = self.by_name.get(name)
        self.by_name[name] = Adapter(self._last_key, name, folder, facts)
        if before is not None:
            self._leave(before.key)

    def unload(self, name: str) -> int:
        """The name is free at once; the key returned comes out of `take_gone` when the weights are. KeyError."""
        key = self.by_name.pop(name).key
        self._leave(key)
        return key

    def use(self, key: int) -> None:
        """One request more. Key 0 is the base model."""
        if key:
            self._users[key] += 1

    def release(self, key: int) -> None:
        if not key:
            return
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key]
            self._drop_unused(key)

    def take_gone(self) -> list[int]:
        """Keys of adapters whose weights were dropped since the last call."""
        gone, self._gone = self._gone, []
        return gone

    def check_integrity(self, used: Counter[int]) -> None:
        """`used`: requests by key."""
        assert self._users == used, "adapters are miscounted"
        named = {adapter.key for adapter in self.by_name.values()}
        assert not named & self._leaving and self._leaving <= used.keys() <= named | self._leaving

    def _leave(self, key: int) -> None:
        self._leaving.add(key)
        self._drop_unused(key)

    def _drop_unused(self, key: int) -> None:
        if key in self._leaving and not self._users[key]:
            self._leaving.discard(key)
            self._runner.unload_adapter(key)
            self._gone.append(key)
