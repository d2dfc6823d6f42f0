"""The border to adapter_config.json as PEFT writes it: what is not supported is refused by name."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.checkpoint.fields import Fields, read_json, shorten

NAME = "adapter_config.json"
LARGEST_RANK = 512
ALL = "all-linear"

Number = TypeVar("Number", int, float)

READ = frozenset(
    [
        "alpha_pattern",
        "exclude_modules",
        "init_lora_weights",
        "layers_pattern",
        "layers_to_transform",
        "lora_alpha",
        "peft_type",
        "r",
        "rank_pattern",
        "target_modules",
        "task_type",
        "use_rslora",
    ]
)
# Of training, of where it came from, or of initial values that the stored tensors replace.
WITHOUT_EFFECT = frozenset(
    [
        "auto_mapping",
        "base_model_name_or_path",
        "corda_config",
        "eva_config",
        "inference_mode",
        "loftq_config",
        "lora_dropout",
        "lora_ga_config",
        "megatron_core",
        "peft_version",
        "revision",
        "runtime_config",
    ]
)
NEUTRAL: dict[str, tuple[Any, ...]] = {"bias": ("none",), "qalora_group_size": (16,)}
"""Values that change nothing, beside null, false and empty ones."""
INITIAL = (True, False, "gaussian", "eva", "orthogonal")
"""`init_lora_weights` that leave the base model alone; the others store a change against altered weights."""


@dataclass(frozen=True)
class LoraConfig:
    """Which modules an adapter changes and by how much. Patterns are looked up by a module's dotted name."""

    rank: int
    alpha: float
    root_scaled: bool = False
    """Divide by the root of the rank."""
    targets: tuple[str, ...] | str = ()
    """Ends of module names, or one pattern for whole names, or ALL."""
    excluded: tuple[str, ...] | str = ()
    layers: frozenset[int] | None = None
    """None = every layer."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    alphas: Mapping[str, float] = field(default_factory=dict)

    def changes(self, module: str) -> bool:
        if _named(self.excluded, module):
            return False
        layer = re.search(r"\.layers\.(\d+)\.", module)
        if self.layers is not None and (layer is None or int(layer[1]) not in self.layers):
            return False
        return self.targets == ALL or _named(self.targets, module)

    def rank_of(self, module: str) -> int:
        return _looked_up(self.ranks, module, self.rank)

    def scale_of(self, module: str) -> float:
        rank = self.rank_of(module)
        return _looked_up(self.alphas, module, self.alpha) / (math.sqrt(rank) if self.root_scaled else rank)


def read_lora_config(folder: Path) -> LoraConfig:
    """CheckpointError names the file, the field and its value."""
    path = str(folder / NAME)
    fields = Fields(path, read_json(folder / NAME))
    if fields.text("peft_type") != "LORA":
        raise CheckpointError(path, f"peft_type is {shorten(fields.tree['peft_type'])}, only LORA adapters are served")
    _refuse_unsupported(fields)
    if fields.tree.get("layers_pattern") not in (None, "layers", ["layers"], []):
        raise fields.wrong("layers_pattern", "layers")
    targets = _modules(fields, "target_modules")
    if not targets:
        raise fields.wrong("target_modules", "names of modules")
    return LoraConfig(
        rank=fields.integer("r", most=LARGEST_RANK),
        alpha=fields.number("lora_alpha", 8.0),
        root_scaled=fields.boolean("use_rslora", False),
        targets=targets,
        excluded=_modules(fields, "exclude_modules"),
        layers=_layers(fields),
        ranks=_ranks(fields),
        alphas=_alphas(fields),
    )


def _refuse_unsupported(fields: Fields) -> None:
    for name, value in fields.tree.items():
        off = value is None or value is False or value in ([], {}, "")
        if name in READ | WITHOUT_EFFECT or off or value in NEUTRAL.get(name, ()):
            continue
        raise CheckpointError(fields.path, f"{name} is {shorten(value)}, which is not supported", "train without it")
    initial = fields.tree.get("init_lora_weights")
    if initial is not None and initial not in INITIAL:
        raise CheckpointError(
            fields.path,
            f"init_lora_weights is {shorten(initial)}: the adapter belongs to altered base weights",
            "convert it to a plain LoRA adapter",
        )
    if fields.tree.get("task_type") not in (None, "CAUSAL_LM"):
        raise fields.wrong("task_type", "CAUSAL_LM")


def _modules(fields: Fields, key: str) -> tuple[str, ...] | str:
    value = fields.tree.get(key)
    if isinstance(value, str):
        _compiled(fields, key, value)
        return value
    if value is not None and not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        raise fields.wrong(key, "names of modules")
    return tuple(value or ())


def _layers(fields: Fields) -> frozenset[int] | None:
    value = fields.tree.get("layers_to_transform")
    if value is None:
        return None
    layers = value if isinstance(value, list) else [value]
    if not all(type(layer) is int and layer >= 0 for layer in layers):
        raise fields.wrong("layers_to_transform", "numbers of layers")
    return frozenset(layers)


def _ranks(fields: Fields) -> dict[str, int]:
    section = fields.section("rank_pattern")
    return (
        {_compiled(fields, "rank_pattern", key): section.integer(key, most=LARGEST_RANK) for key in section.tree}
        if section
        else {}
    )


def _alphas(fields: Fields) -> dict[str, float]:
    section = fields.section("alpha_pattern") or Fields(fields.path, {})
    return {_compiled(section, "alpha_pattern", key): section.number(key) for key in section.tree}


def _compiled(fields: Fields, key: str, pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise CheckpointError(fields.path, f"{key} holds {shorten(pattern)}, no pattern: {error}") from error
    return pattern


def _named(modules: tuple[str, ...] | str, module: str) -> bool:
    if isinstance(modules, str):
        return re.fullmatch(modules, module) is not None
    return any(module == name or module.endswith(f".{name}") for name in modules)


def _looked_up(patterns: Mapping[str, Number], module: str, default: Number) -> Number:
    for pattern, value in patterns.items():
        if re.match(pattern if pattern.startswith("^") else rf"(.*\.)?({pattern})$", module):
            return value
    return default
