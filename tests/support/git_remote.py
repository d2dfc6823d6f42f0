"""Real bare repositories, written object by object, and an agent that follows them with a fake supervisor behind it."""

import asyncio
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.repo import Repo

from appliance.profile.gitops import GitOps
from appliance.supervise.gitops.agent import Agent
from appliance.supervise.gitops.asking import Bounds
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.status import GitStatus

PROFILE = "p.yaml"
FILE = 0o100644
LINK = stat.S_IFLNK
SUBMODULE = 0o160000
DEADLINE = 40.0


class Remote:
    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.repo = Repo.init_bare(str(path))
        self.tip: ObjectID | None = None

    def commit(
        self,
        files: Mapping[str, bytes | str | tuple[int, bytes]],
        subject: str = "a change",
        *,
        parents: list[ObjectID] | None = None,
        key: asyncssh.SSHKey | None = None,
        namespace: str = "git",
        signature: bytes | None = None,
        branch: str = "main",
    ) -> str:
        """The files are the whole tree; folders by slashes. A tuple is (mode, content or target)."""
        made = Commit()
        made.tree = self._tree(files)
        made.parents = [self.tip] if parents is None and self.tip else parents or []
        made.author = made.committer = b"Ada Example <ada@example.org>"
        made.commit_time = made.author_time = int(time.time())
        made.commit_timezone = made.author_timezone = 0
        made.message = f"{subject}\n\nMore words.\n".encode()
        if key is not None:
            made.gpgsig = asyncssh.create_sshsig(key, made.raw_without_sig(), namespace=namespace).rstrip(b"\n")
        if signature is not None:
            made.gpgsig = signature
        self.repo.object_store.add_object(made)
        self.point(made.id, branch)
        return made.id.decode()

    def point(self, commit: ObjectID | str, branch: str = "main") -> None:
        self.tip = ObjectID(commit.encode()) if isinstance(commit, str) else commit
        self.repo.refs[b"refs/heads/" + branch.encode()] = self.tip

    def tag(self, name: str, commit: str) -> None:
        """Annotated."""
        made = Tag()
        made.name, made.object = name.encode(), (Commit, ObjectID(commit.encode()))
        made.tagger, made.tag_time, made.tag_timezone, made.message = b"Ada <ada@example.org>", 1, 0, b"a tag\n"
        self.repo.object_store.add_object(made)
        self.repo.refs[b"refs/tags/" + name.encode()] = made.id

    def _tree(self, files: Mapping[str, bytes | str | tuple[int, bytes]]) -> ObjectID:
        tree, folders = Tree(), dict[str, dict[str, bytes | str | tuple[int, bytes]]]()
        for name, value in files.items():
            head, _, rest = name.partition("/")
            if rest:
                folders.setdefault(head, {})[rest] = value
                continue
            mode, data = value if isinstance(value, tuple) else (FILE, value)
            if mode == SUBMODULE:
                tree.add(name.encode(), mode, ObjectID(b"1" * 40))
                continue
            blob = Blob.from_string(data.encode() if isinstance(data, str) else data)
            self.repo.object_store.add_object(blob)
            tree.add(name.encode(), mode, blob.id)
        for name, inner in folders.items():
            tree.add(name.encode(), stat.S_IFDIR, self._tree(inner))
        self.repo.object_store.add_object(tree)
        return tree.id


def good(proposal: Proposal) -> Outcome:
    return Outcome("applied", 1, 1)


@dataclass
class Following:
    """What the fake supervisor got and heard; `answer` decides what becomes of a proposal."""

    agent: Agent = field(init=False)
    answer: Callable[[Proposal], Outcome] = good
    proposals: list[Proposal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    alive: Callable[[], bool] = lambda: True
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def propose(self, proposal: Proposal) -> Outcome:
        self.proposals.append(proposal)
        return self.answer(proposal)

    def note(self, text: str, level: str) -> None:
        self.notes.append(f"{level}: {text}")

    @property
    def texts(self) -> list[str | None]:
        return [proposal.text for proposal in self.proposals]

    @property
    def status(self) -> GitStatus:
        status = self.agent.status
        assert status is not None
        return status

    async def until(self, true: Callable[[GitStatus], bool]) -> GitStatus:
        try:
            async with asyncio.timeout(DEADLINE):
                while self.alive() and not true(self.status):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"still {self.status}, said {self.notes}") from None
        assert self.alive(), f"the agent ended: {self.status}"
        return self.status

    async def settled(self, commit: str) -> GitStatus:
        """What became of `commit`."""
        return await self.until(lambda now: now.commit == commit and "being tried" not in now.error)


@asynccontextmanager
async def following(
    folder: Path, settings: GitOps, outcome: Callable[[Proposal], Outcome] = good, **bounds: float
) -> AsyncIterator[Following]:
    told = Following(answer=outcome)
    quick = Bounds(**{"first_retry": 0.2, "longest_retry": 0.5, "answer": 30.0, **bounds})  # type: ignore[arg-type]
    told.agent = Agent(folder, told.propose, told.note, told._changed.set, quick)
    told.agent.configure(settings)
    task = asyncio.create_task(told.agent.run())
    task.add_done_callback(lambda _: told._changed.set())
    told.alive = lambda: not task.done()
    try:
        yield told
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def settings(remote: Remote | str, **more: object) -> GitOps:
    repo = remote if isinstance(remote, str) else str(remote.path)
    return GitOps.model_validate({"repo": repo, "path": PROFILE, "interval": "200ms", **more})


def run(
    remote: Remote,
    then: Callable[[Following], Awaitable[None]],
    answer: Callable[[Proposal], Outcome] = lambda proposal: Outcome("applied", 1, 1),
    **more: object,
) -> Following:
    """Follows `remote` until `then` has come to its end."""

    async def main() -> Following:
        async with following(remote.path.parent / "state", settings(remote, **more), answer) as told:
            await then(told)
            return told

    return asyncio.run(main())
