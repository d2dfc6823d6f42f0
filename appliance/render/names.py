"""Names that another program accepts, from the profile's own."""

import hashlib
import re

LONGEST = 63
"""Characters of a DNS label."""
SUFFIX = 12
"""Of them kept for what is added: -environment."""
NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def dns_label(name: str) -> str:
    """A DNS label that begins with a letter; a name that had to be shortened keeps its identity in six hex digits."""
    label = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not label or not label[0].isalpha():
        label = f"appliance-{label}".rstrip("-")
    room = LONGEST - SUFFIX
    if len(label) <= room:
        return label
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{label[: room - 7].rstrip('-')}-{mark}"


def is_namespace(text: str) -> bool:
    return NAMESPACE.fullmatch(text) is not None


def data_key(text: str) -> str:
    """A key of a ConfigMap or Secret: letters, digits, `-`, `_`, `.`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:253] or "file"
