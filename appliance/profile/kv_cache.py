"""Section `kv_cache`: how keys and values of past tokens are kept."""

from typing import Annotated, Literal

from pydantic import Field

from .setting import Section, section, setting
from .types import KVSize

KVDtype = Literal[
    "auto",
    "float32",
    "float16",
    "bfloat16",
    "fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_inc",
    "fp8_ds_mla",
    "nvfp4_ds_mla",
    "turboquant_k8v4",
    "turboquant_4bit_nc",
    "turboquant_k3v4_nc",
    "turboquant_3bit_nc",
    "ultraquant_4bit",
    "int4_per_token_head",
    "int8_per_token_head",
    "fp8_per_token_head",
    "nvfp4",
    "nvfp4_4over6",
]
SkippedLayer = Annotated[int, Field(ge=0)] | Literal["sliding_window"]


class Mamba(Section):
    mode: Literal["none", "align"] = setting(
        "none",
        description="Prefix caching of state-space layers; align keeps states at block borders.",
        reload="engine",
        option="mamba-cache-mode",
    )


class KVCache(Section):
    dtype: KVDtype = setting(
        "auto",
        description="Number format of cached keys and values; auto: the checkpoint's own, else the model's dtype.",
        reload="engine",
        option="kv-cache-dtype",
        form="a KV format",
    )
    size: KVSize = setting(
        "auto",
        description="Memory of the whole pool (4GiB) or its length (65536 tokens); "
        "auto: what hardware.memory_fraction leaves.",
        unit="bytes or tokens",
        reload="engine",
        option="kv-cache-memory-bytes",
    )
    block_tokens: int = setting(
        16,
        description="Tokens per block, the unit of allocation and of prefix caching.",
        unit="tokens",
        reload="engine",
        option="block-size",
        ge=1,
        le=1024,
    )
    prefix_caching: bool = setting(
        True,
        description="Keep full blocks of finished requests and reuse them for equal beginnings of prompts.",
        reload="reconfigure",
        option="enable-prefix-caching",
    )
    skip_layers: tuple[SkippedLayer, ...] = setting(
        (),
        description="Layers (by number, or all with a sliding window) that keep the model's dtype when the cache "
        "has a smaller one.",
        reload="engine",
        option="kv-cache-dtype-skip-layers",
    )
    mamba: Mamba = section(Mamba, description="State-space layers of hybrid models.")
