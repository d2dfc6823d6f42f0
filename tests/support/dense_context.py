"""Attention the long way: every layer's keys and values in one tensor each, one sequence, float32 scores."""

import torch

from appliance.engine.layers.heads import HeadLayout
from appliance.engine.layers.rotary import Rotation


class DenseContext:
    def __init__(self) -> None:
        self.keys: dict[int, torch.Tensor] = {}
        self.values: dict[int, torch.Tensor] = {}

    def attend(
        self,
        layer: int,
        qkv: torch.Tensor,
        layout: HeadLayout,
        rotation: Rotation,
        *,
        scale: float,
        window: int | None = None,
        softcap: float | None = None,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        query, key, value = layout.split(qkv, rotation)
        for store, new in ((self.keys, key), (self.values, value)):
            store[layer] = torch.cat((store[layer], new)) if layer in store else new.clone()
        groups = query.shape[1] // key.shape[1]
        keys = self.keys[layer].repeat_interleave(groups, 1)
        values = self.values[layer].repeat_interleave(groups, 1)
        scores = torch.einsum("qhd,khd->hqk", query, keys) * scale
        if softcap is not None:
            scores = (scores / softcap).tanh() * softcap
        held = keys.shape[0]
        distance = torch.arange(held - query.shape[0], held)[:, None] - torch.arange(held)
        seen = (distance >= 0) & (distance < (window or held))
        weights = scores.float().masked_fill(~seen, float("-inf")).softmax(-1).to(values.dtype)
        mixed = torch.einsum("hqk,khd->qhd", weights, values).flatten(1)
        return mixed if rows is None else mixed[rows]
