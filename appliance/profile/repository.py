"""The forms of a git repository's address, taken apart without a library."""

import re
from typing import Literal

Kind = Literal["https", "http", "ssh", "file"]

URL = re.compile(r"(https?|ssh|file)://(?:([^/@]*)@)?([^/]*)(/.*)", re.IGNORECASE)
SCP = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)[^\s]+", re.ASCII)


def repository_kind(address: str) -> Kind | None:
    """None where it is no address that can be followed."""
    if not address.isprintable() or " " in address:
        return None
    if found := URL.fullmatch(address):
        kind = found[1].lower()
        if kind == "file":
            return "file" if found[3] in ("", "localhost") else None
        return kind if found[3] and not found[3].startswith("-") else None  # type: ignore[return-value]
    if address.startswith("/"):
        return "file"
    return "ssh" if SCP.fullmatch(address) and not address.startswith("-") else None


def holds_secret(address: str) -> bool:
    """A password before the host; for http(s) any user (tokens are written there) and any query."""
    found = re.match(r"([a-z][a-z0-9+.-]*)://([^/]*)@", address, re.IGNORECASE)
    http = address.lower().startswith(("http:", "https:"))
    return bool(found and (http or ":" in found[2])) or (http and "?" in address)
