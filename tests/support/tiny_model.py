"""Random-weight checkpoints of any architecture Transformers knows, small enough to make in a second.

The folder holds config.json, safetensors, a byte-level BPE tokenizer trained here and a chat template. `yes`, `no`,
every letter and every digit are single tokens after the generation prompt, so that these models can decide.
"""

from pathlib import Path
from typing import Any

WORDS = (
    "yes no the customer says that order number was paid but never arrived please answer "
    "with the letter of one option only "
    "a paged cache keeps blocks of tokens for every request and the scheduler fills one budget each step "
    "river mountain window forest silver engine kernel profile reload decision question state system user assistant"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
BASE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 1024,
    "tie_word_embeddings": True,
    "initializer_range": 0.2,
}
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", {}),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {"head_dim": None}),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {}),
    "mistral": ("MistralConfig", "MistralForCausalLM", {"sliding_window": None, "tie_word_embeddings": False}),
    "gemma3": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        {
            "sliding_window": 32,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "query_pre_attn_scalar": 24,
            "initializer_range": 0.02,
        },
    ),
}


def make_tokenizer(folder: Path) -> Any:
    """Trains and saves the tokenizer; returns Transformers' object."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([f"{word}\n {word}" for word in WORDS.split()] * 4 + [WORDS] * 4, trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    wrapped.chat_template = CHAT_TEMPLATE
    wrapped.save_pretrained(folder)
    return wrapped


def make_model(
    folder: Path, architecture: str = "llama", dtype: str = "float32", seed: int = 0, **overrides: Any
) -> Path:
    """Writes one checkpoint. `overrides` are fields of the Transformers config; biases and norms are random too."""
    import torch
    import transformers

    config_class, model_class, own = ARCHITECTURES[architecture]
    tokenizer = make_tokenizer(folder)
    fields = {key: value for key, value in (BASE | own | overrides).items() if value is not None or key in overrides}
    config = getattr(transformers, config_class)(
        vocab_size=512,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **fields,
    )
    torch.manual_seed(seed)
    model = getattr(transformers, model_class)(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    return folder
