"""Foreign text inside a message: on one line, printable, short, without what looks like a credential."""

import re

# a token of the hub has no further underscore; `hf_overrides` and `hf_access_token` are names
CREDENTIAL = re.compile(
    r"(?<=://)[^/@\s'\"]+:[^/@\s'\"]+(?=@)|\b(?:sk-|gh[pos]_|xox[bp]-)[\w-]{6,}|\bhf_[A-Za-z0-9]{10,}"
)


def covered(text: str) -> str:
    """Of the same length, so that columns still point at the right place."""
    return CREDENTIAL.sub(lambda found: "•" * len(found[0]), text)


def printable(text: str, width: int = 60) -> str:
    line = "".join(letter if letter.isprintable() else "?" for letter in covered(text)[: width + 1])
    return line if len(text) <= width else line[: width - 1] + "…"


def short(text: str, width: int = 40) -> str:
    return f'"{printable(text, width)}"'
