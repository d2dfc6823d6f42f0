"""The profile an operator owns: YAML text with positions -> Document -> Profile."""

from .document import Document
from .load import load
from .root import Profile

__all__ = ["Document", "Profile", "load"]
