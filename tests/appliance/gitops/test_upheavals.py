"""A followed repository is rewritten, vanishes and returns; a copy of it is damaged, or has no room."""

import asyncio
import shutil
from pathlib import Path

from git_remote import PROFILE, Following, Remote, following, run, settings

from appliance.supervise.gitops.clone import DEPTH


def test_forced_push_is_followed_and_named(remote: Remote) -> None:
    async def then(told: Following) -> None:
        await told.settled(second)
        other = remote.commit({PROFILE: "three"}, parents=[])
        assert (await told.settled(other)).state == "Synced"
        assert "rewritten" in told.proposals[-1].note
        remote.point(first)
        assert (await told.settled(first)).running == first
        assert told.texts == ["two", "three", "one"]

    first = remote.commit({PROFILE: "one"})
    second = remote.commit({PROFILE: "two"})
    run(remote, then)


def test_an_ordinary_push_of_several_commits_is_not_called_rewritten(remote: Remote) -> None:
    async def then(told: Following) -> None:
        await told.settled(first)
        last = [remote.commit({PROFILE: f"{number}"}) for number in range(DEPTH - 2)][-1]
        await told.settled(last)
        assert "rewritten" not in told.proposals[-1].note

    first = remote.commit({PROFILE: "one"})
    run(remote, then)


def test_tag_moves(remote: Remote) -> None:
    async def then(told: Following) -> None:
        assert (await told.settled(first)).state == "Synced"
        remote.tag("v1", second)
        assert (await told.settled(second)).state == "Synced"

    first, second = remote.commit({PROFILE: "one"}), remote.commit({PROFILE: "two"})
    remote.tag("v1", first)
    run(remote, then, ref="v1")


def test_branch_vanishes_and_returns(remote: Remote) -> None:
    async def then(told: Following) -> None:
        await told.settled(first)
        del remote.repo.refs[b"refs/heads/main"]
        status = await told.until(lambda now: now.state == "Degraded")
        assert 'AP1002 the repository has no branch or tag "main"' in status.error
        assert status.running == first
        remote.point(first)
        assert (await told.until(lambda now: now.state == "Synced")).error == ""
        assert told.texts == ["one"]

    first = remote.commit({PROFILE: "one"})
    run(remote, then)


def test_remote_disappears_and_returns(remote: Remote) -> None:
    async def then(told: Following) -> None:
        await told.settled(first)
        away = remote.path.with_name("away")
        remote.path.rename(away)
        status = await told.until(lambda now: now.state == "Degraded")
        assert "AP1001" in status.error and status.running == first
        await asyncio.sleep(1.0)
        away.rename(remote.path)
        assert (await told.until(lambda now: now.state == "Synced")).error == ""
        assert [note for note in told.notes if "AP1001" in note] == [f"error: gitops: {status.error}"], "said once"
        assert told.notes[-1] == "info: gitops: the repository answers again"

    first = remote.commit({PROFILE: "one"})
    run(remote, then)


def test_a_repository_larger_than_sense(remote: Remote, tmp_path: Path) -> None:
    import random

    noise = random.Random(1).randbytes(6 << 20)

    async def main() -> None:
        async with following(tmp_path / "state", settings(remote), size=2 << 20) as told:
            status = await told.until(lambda now: now.state == "Degraded")
            assert "AP1006" in status.error and "2 MiB" in status.error
            assert not list((tmp_path / "state").rglob("*.pack"))
            small = remote.commit({PROFILE: "one"}, parents=[])
            assert (await told.settled(small)).state == "Synced"

    remote.commit({PROFILE: "one", "noise": noise})
    asyncio.run(main())


def test_a_copy_that_was_damaged_is_made_anew(remote: Remote, tmp_path: Path) -> None:
    async def then(told: Following) -> None:
        await told.settled(first)
        for file in (tmp_path / "state" / "clone").rglob("*"):
            if file.is_file():
                file.chmod(0o600)
                file.write_bytes(b"damage")
        second = remote.commit({PROFILE: "two"})
        assert (await told.settled(second)).state == "Synced"

    first = remote.commit({PROFILE: "one"})
    run(remote, then)


def test_full_or_missing_state_folder_is_told(remote: Remote, tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "state").write_text("a file where the folder should be")
        async with following(tmp_path / "state", settings(remote)) as told:
            status = await told.until(lambda now: now.state == "Degraded")
            assert "AP1009" in status.error
            (tmp_path / "state").unlink()
            assert (await told.settled(first)).state == "Synced"
        shutil.rmtree(tmp_path / "state")

    first = remote.commit({PROFILE: "one"})
    asyncio.run(main())
