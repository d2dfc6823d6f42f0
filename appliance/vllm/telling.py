"""Which of the lines that a dying vLLM wrote say why."""

import re
from collections.abc import Sequence

_PREFIX = re.compile(r"^(\(\w[\w ]* pid=\d+\)\s*)?((ERROR|CRITICAL|WARNING|INFO) [\d-]+ [\d:]+ \[[^\]]*\]\s*)?")
_REASON = re.compile(r"^([\w.]*(Error|Exception|Interrupt)\b.*|.*\berror: .*|Killed.*|.*: No such file or directory)$")
_CONSEQUENCE = re.compile(r"Engine core initialization failed|See root cause above|WorkerProc initialization failed")
MOST = 3


def telling_lines(lines: Sequence[str]) -> list[str]:
    """At most three: errors by name in their order, mere consequences of them last; else the very end."""
    plain = [_PREFIX.sub("", line).strip() for line in lines]
    named = list(dict.fromkeys(line for line in plain if _REASON.match(line)))
    causes = [line for line in named if not _CONSEQUENCE.search(line)]
    return (causes or named or [line for line in plain if line])[-MOST:]
