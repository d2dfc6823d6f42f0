"""PEFT-style LoRA adapters with random values, and the merged model that is their truth."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
ALL = (*ATTENTION, "gate_proj", "up_proj", "down_proj")


def write_adapter(
    folder: Path,
    model: Path,
    targets: Sequence[str] = ALL,
    *,
    rank: int = 4,
    alpha: float = 8.0,
    seed: int = 1,
    strength: float = 0.3,
    ranks: dict[str, int] | None = None,
    dtype: torch.dtype = torch.float32,
    layers: Sequence[int] | None = None,
    **fields: Any,
) -> Path:
    """`ranks`: of modules whose rank differs, by the end of their names."""
    weights = base_weights(model)
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for module, weight in weights.items():
        if module.split(".")[-1] not in targets or (layers is not None and int(module.split(".")[2]) not in layers):
            continue
        own = next((value for end, value in (ranks or {}).items() if module.endswith(end)), rank)
        out, inputs = weight.shape
        for side, shape in (("A", (own, inputs)), ("B", (out, own))):
            values = torch.randn(shape, generator=generator) * strength / shape[1] ** 0.5
            tensors[f"base_model.model.{module}.lora_{side}.weight"] = values.to(dtype)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(model),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "lora_dropout": 0.05,
        "megatron_core": "megatron.core",
        "modules_to_save": None,
        "loftq_config": {},
        "r": rank,
        "lora_alpha": alpha,
        "rank_pattern": ranks or {},
        "alpha_pattern": {},
        "target_modules": list(targets),
        "layers_to_transform": list(layers) if layers is not None else None,
        "use_rslora": False,
        "use_dora": False,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config | fields))
    return folder


def base_weights(model: Path) -> dict[str, torch.Tensor]:
    """The projections of every layer, by module."""
    from transformers import AutoModelForCausalLM

    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    return {
        name.removesuffix(".weight"): value
        for name, value in loaded.state_dict().items()
        if ".layers." in name and name.endswith("_proj.weight")
    }


def merged(model: Path, adapter: Path | None, scales: dict[str, float] | float) -> Any:
    """Transformers' model with scale * B @ A added to its weights; scales of modules by the end of their names."""
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    if adapter is None:
        return loaded
    tensors = load_file(adapter / "adapter_model.safetensors")
    state = loaded.state_dict()
    for name, down in tensors.items():
        if ".lora_A." not in name:
            continue
        module = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
        up = tensors[name.replace(".lora_A.", ".lora_B.")]
        scale = scales if isinstance(scales, float) else next(v for end, v in scales.items() if module.endswith(end))
        with torch.no_grad():
            state[f"{module}.weight"] += scale * (up.double() @ down.double()).float()
    return loaded
