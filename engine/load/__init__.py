"""Checkpoint files to a model whose weights are in place."""

from .model import load_model

__all__ = ["load_model"]
