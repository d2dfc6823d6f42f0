"""The adapters in memory beside one model."""

import re
from collections import defaultdict

import torch

from appliance.engine.core.types import AdapterFacts
from appliance.engine.layers.linear import Linear, Part
from appliance.engine.lora.delta import Delta, attach, detach
from appliance.engine.lora.files import LowRank, read_adapter
from appliance.engine.lora.step import StepRows

LAYER = re.compile(r"\.layers\.(\d+)\.")
ON_ALL_ROWS = ("q_proj", "k_proj", "v_proj")


class ResidentAdapters:
    """`parts`: every product that can be changed, by its module's name in the checkpoint."""

    def __init__(self, parts: dict[str, Part], num_layers: int, dtype: torch.dtype) -> None:
        self.rows = StepRows(dtype)
        self._parts = parts
        self._last_layer = num_layers - 1
        self._dtype = dtype

    def load(self, key: int, folder: str) -> AdapterFacts:
        """CheckpointError where the adapter cannot be served with this model; nothing is resident then."""
        shapes = {name: (part.rows, part.inputs) for name, part in self._parts.items()}
        files = read_adapter(folder, shapes)
        changes: dict[Linear, list[tuple[Part, LowRank]]] = defaultdict(list)
        sees_wanted: dict[Linear, bool] = {}
        for name, change in files.modules.items():
            part = self._parts[name]
            changes[part.linear].append((part, change))
            sees_wanted[part.linear] = self._sees_wanted_rows(name)
        with torch.inference_mode():
            deltas = {linear: Delta(own, self._dtype) for linear, own in changes.items()}
        for linear, delta in deltas.items():
            attach(linear, key, delta, self.rows, sees_wanted[linear])
        rank = max(len(change.down) for change in files.modules.values())
        return AdapterFacts(files.fingerprint, rank, sum(delta.nbytes for delta in deltas.values()))

    def unload(self, key: int) -> None:
        for part in self._parts.values():
            detach(part.linear, key)

    def _sees_wanted_rows(self, name: str) -> bool:
        """Behind its keys and values, the last layer goes on with those rows only whose results are wanted."""
        layer = LAYER.search(name)
        return layer is not None and int(layer[1]) == self._last_layer and not name.endswith(ON_ALL_ROWS)
