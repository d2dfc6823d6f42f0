"""An agent that follows real repositories in folders: what is proposed, and what status says."""

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest
from git_remote import LINK, PROFILE, SUBMODULE, Following, Remote, following, run, settings

from appliance.supervise.gitops.agent import Agent
from appliance.supervise.proposal import Outcome, Proposal


def test_follows_commits_and_leaves_the_remote_alone(remote: Remote) -> None:
    async def then(told: Following) -> None:
        status = await told.settled(first)
        assert (status.state, status.running, status.error) == ("Synced", first, "")
        assert (status.author, status.subject) == ("Ada Example <ada@example.org>", "the beginning")
        assert status.checked is not None
        second = remote.commit({PROFILE: "two", "README": "more"}, "the second")
        assert (await told.settled(second)).state == "Synced"
        third = remote.commit({PROFILE: "two", "README": "again more"}, "another file")
        assert (await told.settled(third)).running == third

    first = remote.commit({PROFILE: "one", "README": "read me"}, "the beginning")
    before = {path: path.stat().st_mtime_ns for path in remote.path.rglob("*")}
    told = run(remote, then)
    assert told.texts == ["one", "two"], "a commit that leaves the profile alone is no proposal"
    proposal = told.proposals[0]
    assert (proposal.source, proposal.actor) == ("git", "Ada Example <ada@example.org>")
    assert proposal.commit and proposal.commit.id == first
    assert proposal.name == f"{PROFILE} at {first[:7]}"
    same = {path for path, at in before.items() if path.is_file() and path.stat().st_mtime_ns != at}
    assert {path.name for path in same} <= {"main"}, "only the test itself moved the branch"


def test_folder_name_with_blanks_as_url(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "of two words" / "remote")
    first = remote.commit({"deep/er/p.yaml": "one"})

    async def main() -> None:
        where = settings(f"file://{quote(str(remote.path))}", path="deep/er/p.yaml")
        async with following(tmp_path / "state", where) as told:
            assert (await told.settled(first)).state == "Synced"
            assert told.texts == ["one"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("result", "state"), [("invalid", "Invalid"), ("rejected", "Degraded"), ("failed", "Degraded")]
)
def test_a_bad_commit_is_tried_once_and_the_next_one_again(remote: Remote, result: str, state: str) -> None:
    def answer(proposal: Proposal) -> Outcome:
        return Outcome(result if proposal.text == "bad" else "applied", 1, 1)  # type: ignore[arg-type]

    async def then(told: Following) -> None:
        await told.settled(first)
        bad = remote.commit({PROFILE: "bad"})
        status = await told.settled(bad)
        assert (status.state, status.running) == (state, first)
        assert status.error
        await asyncio.sleep(1.0)
        assert told.texts == ["one", "bad"]
        asked = told.agent.again(Proposal("admin"), "one")
        assert (asked.text, asked.commit and asked.commit.id) == ("bad", bad), "reload tries it again"
        told.agent.tried(asked, Outcome("applied", 1, 1))
        assert (told.status.state, told.status.running) == ("Synced", bad)
        better = remote.commit({PROFILE: "better"})
        assert (await told.settled(better)).state == "Synced"
        assert told.texts == ["one", "bad", "better"]

    first = remote.commit({PROFILE: "one"})
    run(remote, then, answer)


def test_while_a_commit_is_tried_its_own_text_stands_for_the_repository(remote: Remote) -> None:
    """Status said of a good commit what was wrong with the one before it."""
    agents: list[Agent] = []
    during: list[tuple[str | None, str | None]] = []

    def answer(proposal: Proposal) -> Outcome:
        during.append((proposal.text, agents[0].text))
        return Outcome("invalid" if proposal.text == "bad" else "applied", 1, 1)

    async def then(told: Following) -> None:
        agents.append(told.agent)
        for text in ("one", "bad", "better"):
            await told.settled(remote.commit({PROFILE: text}))

    remote.commit({PROFILE: "none"})
    run(remote, then, answer)
    assert [held for _, held in during] == [text for text, _ in during] and ("better", "better") in during


def test_a_failed_commit_is_not_tried_again_after_a_restart(remote: Remote) -> None:
    def fail(proposal: Proposal) -> Outcome:
        return Outcome("failed", 1, 1)

    async def once(told: Following) -> None:
        assert (await told.settled(first)).state == "Degraded"

    async def again(told: Following) -> None:
        assert (await told.until(lambda now: now.checked is not None)).state == "Degraded"
        await asyncio.sleep(0.5)
        assert told.status.commit == first and not told.proposals
        asked = told.agent.again(Proposal("admin"), "what runs")
        assert (asked.text, asked.commit) == ("what runs", None), "reload never means the local file"
        assert (await told.until(lambda now: now.state == "Synced")).running == first

    first = remote.commit({PROFILE: "one"})
    run(remote, once, fail)
    run(remote, again)


REFUSED = {
    "moved": ({"elsewhere.yaml": "one"}, "AP1003", "no file p.yaml"),
    "a link": ({PROFILE: (LINK, b"/etc/passwd")}, "AP1003", "links are not followed"),
    "a folder": ({f"{PROFILE}/inner": "one"}, "AP1003", "is a folder"),
    "a submodule": ({PROFILE: (SUBMODULE, b"")}, "AP1003", "another repository"),
    "LFS": (
        {PROFILE: "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"},
        "AP1004",
        "pointer of Git LFS",
    ),
    "not UTF-8": ({PROFILE: b"name: caf\xe9\n"}, "AP1004", "p.yaml:1: byte 0xe9"),
    "huge": ({PROFILE: b"x" * (1 << 20) + b"y"}, "AP1004", "larger than 1 MiB"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_commits_without_a_profile_are_invalid_and_what_runs_stays(remote: Remote, case: str) -> None:
    files, code, words = REFUSED[case]

    async def then(told: Following) -> None:
        await told.settled(first)
        status = await told.settled(remote.commit(files))  # type: ignore[arg-type]
        assert (status.state, status.running) == ("Invalid", first)
        assert code in status.error and words in status.error
        back = remote.commit({PROFILE: "one"})
        assert (await told.settled(back)).state == "Synced"

    first = remote.commit({PROFILE: "one"})
    run(remote, then)


def test_a_link_on_the_way_to_the_file(remote: Remote) -> None:
    async def then(told: Following) -> None:
        status = await told.settled(first)
        assert status.state == "Invalid" and "current is a link" in status.error

    first = remote.commit({"v1/p.yaml": "one", "current": (LINK, b"v1")})
    run(remote, then, path="current/p.yaml")


def test_what_runs_came_from_elsewhere(remote: Remote) -> None:
    async def then(told: Following) -> None:
        await told.settled(first)
        told.agent.diverged("an edit of the local file")
        status = await told.until(lambda now: now.state == "OutOfSync")
        assert status.running == "" and "local file" in status.error
        await asyncio.sleep(0.6)
        assert told.texts == ["one"]
        second = remote.commit({PROFILE: "one"}, "the same text again")
        assert (await told.settled(second)).state == "Synced"
        assert told.texts == ["one", "one"]

    first = remote.commit({PROFILE: "one"})
    run(remote, then)
