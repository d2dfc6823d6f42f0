"""LoRA adapters: small low-rank changes of a model's products, resident beside it, chosen request by request."""
