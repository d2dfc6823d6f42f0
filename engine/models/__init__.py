"""Architectures by Hugging Face class name; a module is imported when it is chosen. Names load without torch."""

# architecture -> (module beside this file, class)
ARCHITECTURES: dict[str, tuple[str, str]] = {
    "LlamaForCausalLM": ("llama", "Llama"),
    "MistralForCausalLM": ("mistral", "Mistral"),
    "Qwen2ForCausalLM": ("qwen2", "Qwen2"),
    "Qwen3ForCausalLM": ("qwen3", "Qwen3"),
    "Gemma3ForCausalLM": ("gemma3", "Gemma3"),
}
