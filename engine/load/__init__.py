"""Checkpoint files to tensors with Hugging Face names."""
