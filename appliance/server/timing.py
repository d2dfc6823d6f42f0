"""What one engine request tells the metrics: when it ran, its tokens, how it ended."""

import time

from appliance.engine.protocol import Update
from appliance.server.metrics import Numbers


class Timing:
    """Times are monotonic seconds, the engine's are from the same clock.

    `numbers` comes with the first engine; nothing is counted of a request that never had one.
    """

    def __init__(self, prompt_tokens: int, max_tokens: int) -> None:
        self.numbers: Numbers | None = None
        self.prompt_tokens = prompt_tokens
        self._max_tokens = max_tokens
        self._arrival = self._last = time.monotonic()
        self._scheduled = 0.0
        self._first = 0.0
        self._tokens = 0
        self._preemptions = 0
        self._over = False

    def observe(self, update: Update) -> bool:
        """True with the update that brings the first token."""
        now = time.monotonic()
        metrics = self.numbers
        assert metrics is not None, "an update before an engine"
        self._scheduled = self._scheduled or update.scheduled_at
        self._preemptions = max(self._preemptions, update.preemptions)
        is_first = bool(update.token_ids) and not self._tokens
        if is_first:
            self._first = now
            metrics.first_token.observe(now - self._arrival)
            metrics.prompt_tokens.inc(self.prompt_tokens)
            metrics.prompt_tokens_cached.inc(update.cached_tokens)
        elif update.token_ids:
            metrics.between_tokens.observe((now - self._last) / len(update.token_ids))
        if update.token_ids:
            self._last = now
            self._tokens += len(update.token_ids)
            metrics.generation_tokens.inc(len(update.token_ids))
        if update.finish_reason is not None:
            self.end(update.finish_reason)
        return is_first

    def end(self, reason: str) -> None:
        """Counts the request once, with its first reason."""
        if self._over:
            return
        self._over = True
        now = time.monotonic()
        metrics = self.numbers
        if metrics is None:
            return
        metrics.finished(reason)
        metrics.whole.observe(now - self._arrival)
        metrics.request_prompt.observe(self.prompt_tokens)
        metrics.request_generation.observe(self._tokens)
        metrics.params_max_tokens.observe(self._max_tokens)
        metrics.preemptions.observe(self._preemptions)
        if self._scheduled:
            metrics.queued.observe(max(0.0, self._scheduled - self._arrival))
            metrics.inference.observe(now - self._scheduled)
        if self._first:
            metrics.prefill.observe(max(0.0, self._first - (self._scheduled or self._arrival)))
            metrics.decode.observe(now - self._first)
        if self._tokens > 1:
            metrics.per_token.observe((now - self._first) / (self._tokens - 1))
