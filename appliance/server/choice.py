"""One sequence on its way back to text: detokenised as it comes, cut at stop strings, finished once."""

from dataclasses import dataclass

from appliance.engine.protocol import TokenLogprobs, Update
from appliance.engine.tokenizer import Tokenizer
from appliance.server.stops import StopSearch


@dataclass(slots=True)
class Piece:
    """What one engine update means to the client."""

    text: str
    token_ids: list[int]
    logprobs: list[TokenLogprobs]
    finish_reason: str | None
    stop_reason: int | str | None


class Choice:
    """`min_tokens`: stop strings are looked for in the text after that many tokens."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        prompt: list[int],
        stops: list[str],
        include_stop: bool,
        skip_special: bool,
        min_tokens: int,
    ) -> None:
        self.tokens = 0
        self.finished = False
        self._stream = tokenizer.stream(skip_special=skip_special, prompt_ids=prompt)
        self._search = StopSearch(tuple(stops), include_stop) if stops else None
        self._include_stop = include_stop
        self._min_tokens = min_tokens

    def feed(self, update: Update) -> Piece:
        """Call for every update until `finished`; a stop string may finish it before the engine does."""
        ids, logprobs = update.token_ids, update.logprobs or []
        reason = update.finish_reason
        stop_reason: int | str | None = update.stop_token_id
        spoken = len(ids) - (reason == "stop" and not self._include_stop and bool(ids))
        if self._search is None:
            text = self._stream.push(ids[:spoken])
            self.tokens += len(ids)
        else:
            text = ""
            for count, token_id in enumerate(ids, 1):
                self.tokens += 1
                if count <= spoken:
                    text += self._searched(self._stream.push((token_id,)), self.tokens > self._min_tokens)
                if self._search.found is not None:
                    ids, logprobs = ids[:count], logprobs[:count]
                    break
        if reason and (self._search is None or self._search.found is None):
            text += self._searched(self._stream.finish(), True)
            text += self._search.flush() if self._search else ""
        if self._search and self._search.found is not None:
            reason, stop_reason = "stop", self._search.found
        self.finished = reason is not None
        return Piece(text, ids, logprobs, reason, stop_reason if reason == "stop" else None)

    def _searched(self, text: str, armed: bool) -> str:
        return self._search.feed(text) if self._search and armed else text
