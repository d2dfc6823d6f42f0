"""The profile an operator owns: YAML text with positions -> Document -> Profile."""

from .root import Profile

__all__ = ["Profile"]
