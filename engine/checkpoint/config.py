"""The frozen description of a model that everything behind the border works with.

`hf_config.py` and `gguf_header.py` are the only places that guess about foreign formats; they fill this in.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RopeConfig:
    """Rotary embedding. `variant` decides which of the other fields count; defaults are the identity."""

    theta: float = 10000.0
    variant: Literal["default", "linear", "llama3", "yarn"] = "default"
    factor: float = 1.0
    original_max_positions: int = 0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    """yarn: scale of cos and sin; None = 0.1 ln(factor) + 1."""
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True


@dataclass(frozen=True)
class ModelConfig:
    """One decoder-only transformer. Sizes in elements; dtypes by torch's names."""

    architecture: str
    """Hugging Face class name, e.g. LlamaForCausalLM; a GGUF is mapped to it."""
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    max_positions: int
    rms_norm_eps: float
    rope: RopeConfig
    local_rope: RopeConfig | None = None
    """Rotary embedding of sliding layers where it differs (Gemma 3)."""
    tie_embeddings: bool = False
    activation: Literal["silu", "gelu_tanh"] = "silu"
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    attention_scale: float = 0.0
    """Multiplier of q·k; the border always sets it (usually head_dim ** -0.5)."""
    sliding_window: int | None = None
    """Tokens a sliding layer sees, itself included."""
    sliding_layers: tuple[bool, ...] = ()
    """Per layer: does the window apply? Empty = no layer."""
    attention_softcap: float | None = None
    logit_softcap: float | None = None
    embedding_scale: float = 1.0
    stored_dtype: str = "bfloat16"
    """Dtype of the weights in the file, or of the widest tensor in it; GGUF quantised types by their names (Q4_1)."""
    bos_token_id: int | None = None
    eos_token_ids: tuple[int, ...] = ()
