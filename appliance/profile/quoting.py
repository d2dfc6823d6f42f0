"""Foreign text inside a message: on one line, printable, short, without what looks like a credential."""

import re

CREDENTIAL = re.compile(r"(?<=://)[^/@\s'\"]+:[^/@\s'\"]+(?=@)|\b(?:sk-|hf_|gh[pos]_|xox[bp]-)[\w-]{6,}")


def covered(text: str) -> str:
    """Of the same length, so that columns still point at the right place."""
    return CREDENTIAL.sub(lambda found: "•" * len(found[0]), text)


def printable(text: str, width: int = 60) -> str:
    line = "".join(letter if letter.isprintable() else "?" for letter in covered(text)[: width + 1])
    return line if len(text) <= width else line[: width - 1] + "…"


def short(text: str, width: int = 40) -> str:
    return f'"{printable(text, width)}"'
