"""Follows one file of one repository: looks, proposes what is new, and knows how both stand to each other.

What is followed is the `gitops` section of the profile that runs, wherever that came from: the supervisor hands it to
`configure` after every applied state. A pulled text that changes the section moves the following, one that has none
ends it.
"""

import asyncio
import random
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tenacity import AsyncRetrying, retry_if_result, wait_exponential_jitter

from appliance.profile.gitops import GitOps
from appliance.supervise.history_records import Commit
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.status import GitStatus

from .ask import make_ask
from .exchange import Answer, Failed, Found, Refused, Same
from .look import look
from .standing import Standing
from .verdict import Memory, Verdict, judge

Propose = Callable[[Proposal], Awaitable[Outcome]]
Note = Callable[[str, str], None]
"""A sentence for the operator, and its level: info, warning, error."""


@dataclass(frozen=True)
class Bounds:
    """Seconds, and bytes of the repository's copy."""

    answer: float = 120.0
    """A look that takes longer is given up."""
    first_retry: float = 2.0
    longest_retry: float = 300.0
    spread: float = 0.1
    """Share of the interval by which looks differ, so that many appliances do not ask at once."""
    size: int = 256 << 20


class Agent:
    """`propose` is awaited for one commit at a time. `changed` is called whenever `status` may be another one."""

    def __init__(
        self, folder: Path, propose: Propose, note: Note, changed: Callable[[], None], bounds: Bounds | None = None
    ) -> None:
        self._folder, self._propose, self._note, self._changed = folder, propose, note, changed
        self._bounds = bounds or Bounds()
        self._memory = Memory(folder / "failed.json")
        self._settings: GitOps | None = None
        self._standing = Standing()
        self._woken = asyncio.Event()
        self._looking: asyncio.Task[Answer] | None = None
        self._proposing = self._patient = False

    @property
    def text(self) -> str | None:
        """Of the commit that was tried last, where one is followed."""
        return self._standing.text if self._settings else None

    @property
    def status(self) -> GitStatus | None:
        """None where nothing is followed."""
        return self._standing.status(self._settings) if self._settings else None

    def configure(self, settings: GitOps | None) -> None:
        """Takes effect at once, also while a look hangs. A new interval alone asks for no new trial.

        Where the text that moves the following came from git itself, the first look waits an interval: two refs that
        name each other must not become a loop.
        """
        before, self._settings = self._settings, settings
        if before == settings:
            return
        if before is None or settings is None or _place(before) != _place(settings):
            self._patient = self._proposing or bool(self._standing.running)
            self._standing = Standing()
            if self._looking:
                self._looking.cancel()
            self._say_what_is_followed(settings)
        self._woken.set()
        self._changed()

    def look_now(self) -> None:
        """As an operator asks for: a commit that failed or was refused is tried again, too."""
        self._standing.again()
        self._woken.set()

    def diverged(self, why: str) -> None:
        """What runs is not what was pulled any more: `why` completes "what runs came from ..."."""
        if self._settings:
            self._standing.diverge(why)
            self._changed()

    def again(self, proposal: Proposal) -> Proposal:
        """What a request to reload means: the text that is followed, where there is one, even if it failed before."""
        standing = self._standing
        if self._settings is None or standing.text is None or standing.verdict.seen is None:
            return proposal
        seen = standing.verdict.seen
        return replace(proposal, text=standing.text, commit=seen, name=_name(self._settings, seen))

    def tried(self, proposal: Proposal, outcome: Outcome) -> None:
        """The outcome of what `again` has made."""
        standing = self._standing
        if self._settings and proposal.commit and proposal.commit == standing.verdict.seen:
            standing.settle(judge(outcome, standing.verdict.tip, proposal.commit), proposal.text or "")
            self._memory.keep(self._settings, standing.verdict)
            self._changed()

    async def run(self) -> None:
        """Until cancelled. A defect of ours ends the following, told and shown, and nothing else."""
        try:
            await self._run()
        except Exception as error:
            lines = "".join(traceback.format_exception(error)).rstrip()
            self._standing.trouble = f"the agent met a defect of the appliance: {error!r}; restart to follow again"
            self._note(f"gitops: {self._standing.trouble}\n{lines}", "error")
            self._changed()

    async def _run(self) -> None:
        while True:
            settings = self._settings
            if settings is None:
                await self._pause(None)
                continue
            if self._patient:
                self._patient = False
                self._woken.clear()
                await self._pause(settings.interval)
                continue
            self._woken.clear()
            standing = self._standing
            answer = await self._answer(settings, standing)
            if answer is not None and standing is self._standing:
                await self._act(settings, standing, answer)
            if self._settings and not self._patient:
                spread = self._settings.interval * self._bounds.spread
                await self._pause(self._settings.interval + random.uniform(-spread, spread))

    async def _answer(self, settings: GitOps, standing: Standing) -> Answer | None:
        """Asks until there is one, with growing waits. None = something else is followed by now."""

        async def once() -> Answer | None:
            seen = standing.verdict.seen
            self._looking = asyncio.create_task(
                look(
                    lambda scratch: make_ask(
                        settings,
                        clone=self._folder / "clone",
                        scratch=scratch,
                        limit=self._bounds.size,
                        known=standing.verdict.tip,
                        before=seen.id if seen else "",
                    ),
                    self._folder,
                    self._bounds.answer,
                )
            )
            try:
                answer = await self._looking
            except asyncio.CancelledError:
                ours = asyncio.current_task()
                if standing is self._standing or (ours and ours.cancelling()):
                    raise
                return None
            standing.checked = time.time()
            self._hear(standing, answer)
            return answer

        retrying: AsyncRetrying = AsyncRetrying(
            retry=retry_if_result(lambda answer: isinstance(answer, Failed) and standing is self._standing),
            wait=wait_exponential_jitter(multiplier=self._bounds.first_retry, max=self._bounds.longest_retry),
            sleep=self._pause,
        )
        answer: Answer | None = await retrying(once)
        return None if isinstance(answer, Failed) else answer

    def _hear(self, standing: Standing, answer: Answer) -> None:
        trouble = f"{answer.code} {answer.fact}; {answer.fix}" if isinstance(answer, Failed) else ""
        if trouble != standing.trouble:
            self._note(f"gitops: {trouble}" if trouble else "gitops: the repository answers again", _level(trouble))
        standing.trouble = trouble
        self._changed()

    async def _act(self, settings: GitOps, standing: Standing, answer: Answer) -> None:
        if isinstance(answer, Same | Failed):
            return
        seen = Commit(id=answer.commit, author=answer.author, subject=answer.subject)
        name = _name(settings, seen)
        if isinstance(answer, Refused):
            error = f"{name} {answer.code} error gitops: {answer.fact}; {answer.fix}"
            standing.verdict = Verdict(state="Invalid", tip=answer.tip, seen=seen, error=error)
            standing.text = None
            self._note(f"{error}; the running state stays", "error")
        elif answer.text == standing.text and not standing.elsewhere:
            standing.untouched(answer.tip, seen)
        else:
            await self._try(settings, standing, answer, seen, name)
        self._changed()

    async def _try(self, settings: GitOps, standing: Standing, found: Found, seen: Commit, name: str) -> None:
        remark = "the history was rewritten, or has moved far" if found.rewritten else ""
        self._note(f'gitops: {name} by {seen.author}: "{seen.subject}"{"; " * bool(remark)}{remark}', "info")
        standing.verdict = Verdict(state="OutOfSync", tip=found.tip, seen=seen, error="it is being tried now")
        self._changed()
        self._proposing = True
        proposal = Proposal("git", found.text, actor=seen.author, note=remark, commit=seen, name=name)
        try:
            verdict = judge(await self._propose(proposal), found.tip, seen)
        finally:
            self._proposing = False
        standing.settle(verdict, found.text)
        self._memory.keep(settings, verdict)

    def _say_what_is_followed(self, settings: GitOps | None) -> None:
        if settings is None:
            gone = "the profile that runs has no gitops section: the repository is not followed any more"
            self._note(f"gitops: {gone}", "warning")
            return
        self._note(f"gitops: following {settings.path} on {settings.ref} of {settings.repo}", "info")
        if kept := self._memory.recall(settings):
            self._standing.verdict = kept

    async def _pause(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()


def _place(settings: GitOps) -> tuple[object, ...]:
    return (settings.repo, settings.ref, settings.path, settings.credentials, settings.known_hosts, settings.signed_by)


def _name(settings: GitOps, commit: Commit) -> str:
    """What diagnostics call the text."""
    return f"{settings.path} at {commit.id[:7]}"


def _level(trouble: str) -> str:
    return "error" if trouble else "info"
