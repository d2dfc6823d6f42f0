"""Secrets that the words beside them give away: `--api-key WORD`, `{name: HF_TOKEN, value: WORD}`."""

import re
from collections.abc import Iterator

_NAME = r"[\w.-]*(?:api[_-]?keys?|token|secret|passw(?:or)?d)"
# references such as $KEY and "${KEY}" are none, nor is the next option
_WORD = r"\"(?!\$\w+\"|\$\{\w+\}\")[^\"]*\"?|'(?!-)[^']*'?|(?!-|\$\w|\$\{\w+\}|#|\[•)[^\s,\"'\]}\\]+"
_MORE = rf"(?:\s*,\s*|\s+)(?!\"-)(?:{_WORD})"
# how many tokens there are is no secret
_OPTION = re.compile(
    rf"(?i)(?<![\w.-])--(?!(?:max|min|num)[-_]){_NAME}[\"']?(?:\s*[,=]\s*|\s+)(?P<word>(?:{_WORD})(?:{_MORE})*)"
)
_PAIR = re.compile(rf"(?i)name[\"']?\s*:\s*[\"']?{_NAME}[\"']?\s*,\s*[\"']?value[\"']?\s*:\s*(?P<word>{_WORD})")


def spoken(line: str) -> Iterator[tuple[int, int]]:
    """Start and end of each, the last first, so that what replaces one leaves the others in place."""
    found = [one.span("word") for pattern in (_OPTION, _PAIR) for one in pattern.finditer(line)]
    return iter(sorted(found, reverse=True))
