"""Chat templates: compiled once, rendered in a sandbox within a time limit, failures told to the client."""

from collections.abc import Sequence
from typing import Any

import jinja2

from .content_format import ContentFormat, detect
from .errors import ChatError, ChatTimeoutError, TokenizerError
from .jinja_environment import compile_template
from .messages import prepare
from .time_limit import run_limited

RENDER_SECONDS = 30.0
RESERVED = frozenset(
    {
        "self",
        "messages",
        "tools",
        "add_generation_prompt",
        "continue_final_message",
        "chat_template",
        "tokenize",
        "return_dict",
    }
)
# the space tells whether the template trimmed the message it ends
MARK = "\ue000CONTINUE\ue001 "


class ChatTemplate:
    """`where` names file (and line offset) for errors; `render_seconds` 0 = no limit."""

    def __init__(self, text: str, where: str, render_seconds: float = RENDER_SECONDS) -> None:
        self.text = text
        self.render_seconds = render_seconds
        try:
            self._template = compile_template(text)
        except jinja2.TemplateSyntaxError as error:
            fix = "correct the template, or name another one in model.chat_template"
            raise TokenizerError(
                where, f"the chat template is broken in line {error.lineno}: {error.message}", fix
            ) from None
        except RecursionError:
            raise TokenizerError(where, "the chat template nests too deeply to be compiled") from None
        self.content_format: ContentFormat = detect(self._template.environment, text)
        self._knows_developer = '"developer"' in text or "'developer'" in text

    def render(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]] | None,
        add_generation_prompt: bool,
        continue_final_message: bool,
        variables: dict[str, Any],
    ) -> str:
        """The prompt text; raises ChatError for what the template refuses, ChatTimeoutError past the limit."""
        if continue_final_message and add_generation_prompt:
            raise ChatError("continue_final_message and add_generation_prompt exclude each other")
        if reserved := sorted(RESERVED & variables.keys()):
            raise ChatError(f"chat_template_kwargs: {', '.join(reserved)} cannot be set this way")
        chat = prepare(messages, self.content_format, self._knows_developer)
        ending = _mark_final(chat) if continue_final_message else ""
        given = {
            "documents": None,
            **variables,
            "messages": chat,
            "tools": tools or None,
            "add_generation_prompt": add_generation_prompt,
        }
        text = self._run(given)
        return _cut(text, ending) if continue_final_message else text

    def _run(self, given: dict[str, Any]) -> str:
        try:
            if self.render_seconds:
                return run_limited(lambda: self._template.render(given), self.render_seconds)
            return self._template.render(given)
        except TimeoutError:
            raise ChatTimeoutError(f"the chat template did not finish within {self.render_seconds:g} seconds") from None
        except jinja2.TemplateError as error:
            raise ChatError(f"the chat template refuses these messages: {error.message}") from error
        except RecursionError:
            raise ChatError("the chat template cannot render these messages: they nest too deeply") from None
        except Exception as error:
            raise ChatError(
                f"the chat template cannot render these messages: {type(error).__name__}: {error}"
            ) from error


def _mark_final(chat: list[dict[str, Any]]) -> str:
    """Puts MARK behind the final message's text and gives that text."""
    content = chat[-1]["content"] if chat else None
    if not content:
        raise ChatError("continue_final_message needs a final message with text to continue")
    if isinstance(content, list):
        text: str = content[-1]["text"]
        content[-1] = {**content[-1], "text": text + MARK}
    else:
        text = content
        chat[-1]["content"] = text + MARK
    return text


def _cut(rendered: str, ending: str) -> str:
    place = rendered.rfind(MARK.rstrip())
    if place < 0 or ending.strip() not in rendered:
        raise ChatError("the chat template changes the final message, so it cannot be continued")
    kept = rendered[:place]
    return kept if rendered.startswith(MARK, place) else kept.rstrip()
