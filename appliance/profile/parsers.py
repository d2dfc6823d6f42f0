"""Section `parsers`: how tool calls and reasoning are found in what the model writes."""

from typing import Literal

from .setting import Section, setting

Parser = Literal["none", "hf"]


class Parsers(Section):
    tool: Parser = setting(
        "none",
        description="Reads tool calls; hf follows the checkpoint's response_template.",
        reload="live",
        option="tool-call-parser",
    )
    reasoning: Parser = setting(
        "none",
        description="Separates reasoning from the answer; hf follows the checkpoint's response_template.",
        reload="live",
        option="reasoning-parser",
    )
