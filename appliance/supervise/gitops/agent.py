"""Follows one file of one repository: looks, proposes what is new, and knows how both stand to each other.

What is followed is the `gitops` section of the profile that runs, wherever that came from: the supervisor hands it to
`configure` after every applied state. A pulled text that changes the section moves the following, one that has none
ends it.
"""

import random
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from appliance.profile.gitops import GitOps
from appliance.supervise.history_records import Commit
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.status import GitStatus

from .asking import Asking, Bounds
from .exchange import Answer, Failed, Found, Refused, Same
from .standing import Standing
from .verdict import Memory, Verdict, judge

Propose = Callable[[Proposal], Awaitable[Outcome]]
Note = Callable[[str, str], None]
"""A sentence for the operator, and its level: info, warning, error."""


class Agent:
    """`propose` is awaited for one commit at a time. `changed` is called whenever `status` may be another one."""

    def __init__(
        self, folder: Path, propose: Propose, note: Note, changed: Callable[[], None], bounds: Bounds | None = None
    ) -> None:
        self._propose, self._note, self._changed = propose, note, changed
        self._bounds = bounds or Bounds()
        self._asking = Asking(folder, self._bounds, self._hear)
        self._memory = Memory(folder / "failed.json")
        self._settings: GitOps | None = None
        self._standing = Standing()
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
            self._asking.drop()
            self._say_what_is_followed(settings)
        self._asking.wake()
        self._changed()

    def diverged(self, why: str) -> None:
        """What runs is not what was pulled any more: `why` completes "what runs came from ..."."""
        if self._settings:
            self._standing.diverge(why)
            self._changed()

    def again(self, proposal: Proposal, running: str) -> Proposal:
        """What a request to reload means: the text that is followed, even if it failed before. Where the commit has
        none, what runs is asked for, and the repository is looked at anew."""
        standing, settings = self._standing, self._settings
        if settings is None:
            return proposal
        if standing.text is None or standing.verdict.seen is None:
            standing.again()
            self._asking.wake()
            return replace(proposal, text=running, name="what runs")
        seen = standing.verdict.seen
        return replace(proposal, text=standing.text, commit=seen, name=_name(settings, seen))

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
                await self._asking.pause(None)
                continue
            if self._patient:
                self._patient = False
                self._asking.rest()
                await self._asking.pause(settings.interval)
                continue
            self._asking.rest()
            standing = self._standing
            answer = await self._asking.answer(settings, standing)
            if answer is not None and standing is self._standing:
                await self._act(settings, standing, answer)
            if self._settings and not self._patient:
                spread = self._settings.interval * self._bounds.spread
                await self._asking.pause(self._settings.interval + random.uniform(-spread, spread))

    def _hear(self, standing: Standing, answer: Answer) -> None:
        trouble = f"{answer.code} {answer.fact}; {answer.fix}" if isinstance(answer, Failed) else ""
        if trouble != standing.trouble:
            said = f"gitops: {trouble}" if trouble else "gitops: the repository answers again"
            self._note(said, "error" if trouble else "info")
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
        standing.text = found.text
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


def _place(settings: GitOps) -> tuple[object, ...]:
    return (settings.repo, settings.ref, settings.path, settings.credentials, settings.known_hosts, settings.signed_by)


def _name(settings: GitOps, commit: Commit) -> str:
    """What diagnostics call the text."""
    return f"{settings.path} at {commit.id[:7]}"
