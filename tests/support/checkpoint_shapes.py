"""Checkpoints of well-known sizes without their files: what headers would say."""

from appliance.engine.checkpoint import Checkpoint, ModelConfig, RopeConfig, TensorInfo
from appliance.engine.checkpoint.dtypes import STORAGE_TYPES

# name: (architecture, vocabulary, hidden, feed-forward, layers, heads, kv heads, head size, positions, tied)
SHAPES = {
    "smollm2-135m": ("LlamaForCausalLM", 49152, 576, 1536, 30, 9, 3, 64, 8192, True),
    "qwen3-0.6b": ("Qwen3ForCausalLM", 151936, 1024, 3072, 28, 16, 8, 128, 40960, True),
    "llama-3-8b": ("LlamaForCausalLM", 128256, 4096, 14336, 32, 32, 8, 128, 8192, False),
    "qwen3-32b": ("Qwen3ForCausalLM", 151936, 5120, 25600, 64, 64, 8, 128, 40960, False),
    "gemma-3-1b": ("Gemma3ForCausalLM", 262144, 1152, 6912, 26, 4, 1, 256, 32768, True),
}
TORCH_NAMES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def make_checkpoint(
    name: str, stored: str = "BF16", positions: int | None = None, task: str = "generate"
) -> Checkpoint:
    """`stored` is a storage type's name; norms are F32 where it is a quantised one."""
    architecture, vocab, hidden, wide, layers, heads, kv_heads, size, most, tied = SHAPES[name]
    shapes = {"model.embed_tokens.weight": (vocab, hidden), "model.norm.weight": (hidden,)}
    if not tied:
        shapes["lm_head.weight"] = (vocab, hidden)
    for layer in range(layers):
        start = f"model.layers.{layer}"
        shapes |= {
            f"{start}.self_attn.q_proj.weight": (heads * size, hidden),
            f"{start}.self_attn.k_proj.weight": (kv_heads * size, hidden),
            f"{start}.self_attn.v_proj.weight": (kv_heads * size, hidden),
            f"{start}.self_attn.o_proj.weight": (hidden, heads * size),
            f"{start}.mlp.gate_proj.weight": (wide, hidden),
            f"{start}.mlp.up_proj.weight": (wide, hidden),
            f"{start}.mlp.down_proj.weight": (hidden, wide),
            f"{start}.input_layernorm.weight": (hidden,),
            f"{start}.post_attention_layernorm.weight": (hidden,),
        }
    tensors = []
    offset = 0
    for tensor, shape in shapes.items():
        dtype = "F32" if len(shape) == 1 and stored not in TORCH_NAMES else stored
        kind = STORAGE_TYPES[dtype]
        elements = shape[0] * (shape[1] if len(shape) == 2 else 1)
        nbytes = elements // kind.block * kind.block_bytes
        tensors.append(TensorInfo(tensor, dtype, shape, f"/models/{name}", offset, nbytes))
        offset += nbytes
    sliding = tuple((layer + 1) % 6 != 0 for layer in range(layers)) if architecture.startswith("Gemma") else ()
    config = ModelConfig(
        architecture=architecture,
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=wide,
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_dim=size,
        max_positions=positions or most,
        rms_norm_eps=1e-6,
        rope=RopeConfig(),
        tie_embeddings=tied,
        attention_scale=size**-0.5,
        sliding_window=512 if sliding else None,
        sliding_layers=sliding,
        stored_dtype=TORCH_NAMES.get(stored, stored),
    )
    kind_of_file = "safetensors" if stored in TORCH_NAMES else "gguf"
    return Checkpoint(config, tuple(tensors), kind_of_file, f"/models/{name}", task)  # type: ignore[arg-type]
