"""Log lines of engine and server on standard error: text for people, JSON for collectors.

Prompts, answers and keys never enter a record.
"""

import logging
import sys

import msgspec


class TextLines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        # a client chooses part of some messages (paths): no line of its own, no terminal codes
        line = super().formatMessage(record)
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def configure(level: str, form: str) -> None:
    """`level` debug | info | warning | error, `form` text | json. Libraries are heard from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    logging.getLogger("appliance").setLevel(level.upper())
