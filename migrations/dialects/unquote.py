"""One word as the shell would hand it over: quotes and escapes resolved, every character with its place."""

from appliance.migrations.dialects.pieces import Piece

_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}


def scan(
    text: str, start: int, end: int, ranges: list[tuple[int, int]], variable: str = "", escapes: bool = False
) -> Piece:
    """Resolves quotes and escapes; the ranges are left as they are written. escapes: between single quotes too."""
    begins: list[int] = []
    ends: list[int] = []
    modes: list[str] = []
    chars: list[str] = []
    mode = " "
    stops = dict(ranges)

    def put(char: str, first: int, behind: int) -> None:
        chars.append(char)
        begins.append(first)
        ends.append(behind)
        modes.append(mode)

    at = start
    while at < end:
        char, following = text[at], text[at + 1 : at + 2]
        if at in stops:
            for place in range(at, stops[at]):
                put(text[place], place, place + 1)
            at = max(stops[at], at + 1)
            continue
        step = 1
        if mode == " " and char in "'\"":
            mode = char
        elif mode == " " and char == "$" and following in ("'", '"') and following:
            mode, step = ("$" if following == "'" else '"'), 2
        elif char == mode or (mode == "$" and char == "'"):
            mode = " "
        elif char == "\\" and (mode != "'" or escapes) and at + 1 < end:
            step = 3 if text[at + 1 : at + 3] == "\r\n" else 2
            if following == "\n" or step == 3:
                pass
            elif mode == "$":
                put(_ANSI.get(following, following), at, at + 2)
            elif mode == '"' and following not in '"\\$`':
                put(char, at, at + 1)
                step = 1
            else:
                put(following, at, at + 2)
        else:
            put(char, at, at + 1)
        at += step
    return Piece(start, end, "".join(chars), begins, ends, "".join(modes), bool(ranges), variable)
