"""Foreign text inside a message: on one line, printable, short."""


def printable(text: str, width: int = 60) -> str:
    line = "".join(letter if letter.isprintable() else "?" for letter in text[: width + 1])
    return line if len(text) <= width else line[: width - 1] + "…"


def short(text: str, width: int = 40) -> str:
    return f'"{printable(text, width)}"'
