"""One choice of a completion as it grows, and completions as server-sent chunks."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from appliance.engine.protocol import TokenLogprobs, Update
from appliance.server.choice import Piece
from appliance.server.generation import Generation
from appliance.server.job import Job
from appliance.server.logprobs import CompletionLogprobs, Speller, prompt_logprobs
from appliance.server.sse import DONE, event


class CompletionWriter:
    """`echoed` is the prompt's text where it leads the answer; `only_echo` drops what was generated."""

    def __init__(
        self, job: Job, number: int, spell: Speller, logprobs: int | None, echoed: str | None, only_echo: bool
    ) -> None:
        self._job = job
        self._number = number
        self._spell = spell
        self._logprobs = CompletionLogprobs(spell) if logprobs is not None else None
        self._echoed = echoed
        self._only_echo = only_echo
        self._began = False
        self._of_prompt: list[TokenLogprobs | None] | None = None
        self._finish: tuple[str | None, int | str | None] = (None, None)
        self._empty()

    def _empty(self) -> None:
        self._text = ""
        self._ids: list[int] = []
        self._entries: list[TokenLogprobs | None] = []
        self._described: list[int] = []

    @property
    def _prompt(self) -> list[int]:
        return self._job.prompts[self._number // self._job.fields.count]

    @property
    def worth_sending(self) -> bool:
        asked_ids = self._ids and self._job.fields.return_token_ids
        return bool(self._text or self._finish[0] or asked_ids or (self._logprobs and self._described))

    def add(self, update: Update, piece: Piece) -> None:
        self._of_prompt = self._of_prompt or update.prompt_logprobs
        if not self._began and (piece.token_ids or piece.finish_reason):
            self._began = True
            if self._echoed is not None:
                self._text += self._echoed
                if self._of_prompt:
                    self._entries += self._of_prompt
                    self._described += self._prompt
        if self._only_echo:
            self._job.choices[self._number].tokens = 0
            self._finish = ("length", None) if piece.finish_reason else self._finish
            return
        self._text += piece.text
        self._ids += piece.token_ids
        if piece.logprobs:
            self._entries += piece.logprobs
            self._described += piece.token_ids
        self._finish = (piece.finish_reason, piece.stop_reason)

    def choice(self) -> dict[str, Any]:
        fields = self._job.fields
        answer = self._growth()
        answer["prompt_token_ids"] = self._prompt if fields.return_token_ids else None
        wanted = self._of_prompt if fields.prompt_logprobs is not None else None
        answer["prompt_logprobs"] = prompt_logprobs(self._spell, wanted) if wanted else None
        return answer

    def take(self) -> dict[str, Any]:
        """What was added since the last call, as a chunk's choice."""
        answer = self._growth()
        self._empty()
        return answer

    def _growth(self) -> dict[str, Any]:
        return {
            "index": self._number,
            "text": self._text,
            "logprobs": self._logprobs.block(self._entries, self._described) if self._logprobs else None,
            "finish_reason": self._finish[0],
            "stop_reason": self._finish[1],
            "token_ids": self._ids if self._job.fields.return_token_ids else None,
        }


async def completion_events(
    job: Job, updates: Generation, writers: list[CompletionWriter]
) -> AsyncGenerator[bytes, None]:
    options = job.fields.stream_options
    with_usage = bool(options and options.include_usage)
    continuous = bool(with_usage and options and options.continuous_usage_stats)
    head = job.head("text_completion")
    async with aclosing(job.pieces(updates)) as pieces:
        async for number, update, piece in pieces:
            writer = writers[number]
            writer.add(update, piece)
            if not writer.worth_sending:
                continue
            value = {**head, "choices": [writer.take()]}
            if with_usage:
                value["usage"] = job.usage([number]) if continuous else None
            yield event(value)
    if with_usage:
        yield event({**head, "choices": [], "usage": job.usage()})
    yield DONE
