"""A small supervisor without processes behind a real admin channel and a real history, in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity
from appliance.supervise.admin import AdminServer, Told
from appliance.supervise.admin_answers import without_texts
from appliance.supervise.admin_protocol import Planned, Text
from appliance.supervise.history import FILE, History
from appliance.supervise.history_records import Phase, Revision, text_hash
from appliance.supervise.proposal import Outcome, Result
from appliance.supervise.status import ApplianceStatus, FieldChange, FileStatus, GitStatus, ProcessStatus


@dataclass
class FakeAppliance:
    """Texts with the word `broken` fail, those with `invalid` are refused; every other one is applied."""

    history: History
    file: Path
    name: str = "triage"
    running: Revision | None = None
    gitops: GitStatus | None = None
    gate: threading.Event | None = None
    """A reload waits for it after its first phase."""
    defects: list[Exception] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Actor and file of plan_against."""

    async def status(self) -> ApplianceStatus:
        if self.running is None:
            raise RuntimeError("a defect of the fake")
        text = self.file.read_text()
        pin = self.history.pinned
        pinned = pin is not None and pin.away == text_hash(text)
        synced = text == self.running.text
        drift = FieldChange(path="kv_cache.size", before=64 << 20, after=128 << 20, reload="engine", why="blocks")
        newest = next(revision for revision in self.history.list() if revision.outcome)
        return ApplianceStatus(
            name=self.name,
            state="ready" if newest.outcome == "applied" else "degraded",
            reasons=() if newest.outcome == "applied" else (f"revision {newest.number} {newest.outcome}",),
            version="0.4",
            release="0.32",
            backend="native",
            url="http://127.0.0.1:8000",
            model="triage",
            pid=4711,
            generation=self.running.generation,
            revision=self.running.number,
            hash=self.running.hash,
            plan="9f86d081884c7d65",
            since=self.running.at,
            uptime=7980.0,
            processes=(
                ProcessStatus(role="server", state="ready", pid=4712, memory_bytes=71 << 20),
                ProcessStatus(role="engine", state="ready", pid=4713, generation=2, memory_bytes=812 << 20, restarts=1),
            ),
            last_reload=without_texts(newest),
            file=FileStatus(
                path=str(self.file),
                state="synced" if synced else "pinned" if pinned else "changed",
                hash=text_hash(text),
                drift=() if synced else (drift,),
            ),
            gitops=self.gitops,
            pin=self.history.pinned,
            history=self.history.health(),
        )

    async def reload(self, actor: str, note: str, told: Told) -> Outcome:
        return await self.propose(self.file.read_text(), "admin", actor, note, told)

    async def rollback(self, to: Revision, actor: str, note: str, told: Told) -> Outcome:
        away = self.running.hash if self.running else ""
        outcome = await self.propose(to.text, "rollback", actor, note or f"to revision {to.number}", told)
        assert outcome.revision is not None
        self.history.pin(outcome.revision, away, to.number)
        return outcome

    async def wanted(self) -> Text:
        return Text(name=str(self.file), text=self.file.read_text())

    async def plan_against(self, text: str, file: str) -> Planned:
        self.asked.append((text, file))
        if "invalid" in text:
            raise ApplianceError([diagnostic(file)], exit_code=1)
        change = FieldChange(path="limits.body", before=1 << 20, after=2 << 20, reload="live", why="between requests")
        revision = self.running.number if self.running else None
        return Planned(action="live", changes=(change,), reasons=("no engine setting changes",), revision=revision)

    async def propose(self, text: str, source: str, actor: str, note: str, told: Told) -> Outcome:
        base = self.running.hash if self.running else ""
        number = self.history.begin(text, text_hash(text), source, actor, note, base)
        self._phase(number, Phase("validate", 0.02), told)
        while self.gate is not None and not self.gate.is_set():
            await asyncio.sleep(0.01)
        result: Result = "invalid" if "invalid" in text else "failed" if "broken" in text else "applied"
        generation = (self.running.generation or 0) if self.running else 0
        if result != "invalid":
            self._phase(number, Phase("boot", 1.25, "engine 2"), told)
        if result == "applied":
            generation += 1
        error = None if result == "applied" else "the engine cannot start: no such model"
        proof: dict[str, str | float | int | bool] = {"chat": "1 token in 0.1 s"} if result == "applied" else {}
        self.history.finish(number, result, generation, proof, error, changes=("kv_cache.size: 64MiB -> 128MiB",))
        if result == "applied":
            self.running = self.history.get(number)
        found = (diagnostic(str(self.file)),) if result == "invalid" else ()
        reasons = () if error is None else (error,)
        return Outcome(result, number, generation, "surge", reasons=reasons, diagnostics=found)

    def _phase(self, number: int, phase: Phase, told: Told) -> None:
        self.history.phase(number, phase.name, phase.seconds, phase.detail)
        told(phase)


def diagnostic(file: str) -> Diagnostic:
    return Diagnostic("AP0101", Severity.ERROR, Position(file, 2, 1), "nmae", "is not a field", "did you mean name?")


@contextmanager
def serve(folder: Path, text: str = "name: triage\n", **settings: object) -> Iterator[FakeAppliance]:
    """Boots on `text` as revision 1 and serves until the end of the block."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder.parent / "profile.yaml"
    file.write_text(text)
    made: list[FakeAppliance] = []
    up, end = threading.Event(), threading.Event()

    async def run() -> None:
        appliance = FakeAppliance(History(folder / FILE), file)
        for name, value in settings.items():
            setattr(appliance, name, value)
        made.append(appliance)
        if text:
            await appliance.propose(text, "boot", "", "", lambda phase: None)
        async with AdminServer(appliance, folder, appliance.defects.append):
            up.set()
            while not end.is_set():
                await asyncio.sleep(0.01)
        appliance.history.close()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        assert up.wait(20)
        yield made[0]
    finally:
        end.set()
        thread.join(20)
    assert not thread.is_alive()
