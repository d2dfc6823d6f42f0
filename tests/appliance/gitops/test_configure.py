"""The section changes while it is followed: by the operator, and by the pulled text itself."""

import asyncio
import socket
from pathlib import Path

import psutil
from git_remote import PROFILE, Following, Remote, following, settings

from appliance.supervise.proposal import Outcome, Proposal


def test_interval_is_live_and_nothing_is_tried_again(tmp_path: Path) -> None:
    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        first = remote.commit({PROFILE: "one"})
        async with following(tmp_path / "state", settings(remote, interval="1h")) as told:
            await told.settled(first)
            second = remote.commit({PROFILE: "two"})
            await asyncio.sleep(0.5)
            assert told.status.commit == first
            told.agent.configure(settings(remote, interval="200ms"))
            await told.settled(second)
            third = remote.commit({PROFILE: "three"})
            await told.settled(third)
            assert told.texts == ["one", "two", "three"]

    asyncio.run(main())


def test_pulled_text_moves_the_following_one_interval_later(tmp_path: Path) -> None:
    """Two branches that name each other are followed to and fro no faster than the interval."""

    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        remote.commit({PROFILE: "follow b"}, parents=[])
        remote.commit({PROFILE: "follow a"}, parents=[], branch="b")
        told: Following

        def answer(proposal: Proposal) -> Outcome:
            ref = "b" if proposal.text == "follow b" else "main"
            told.agent.configure(settings(remote, ref=ref, interval="1s"))
            return Outcome("applied", 1, 1)

        async with following(tmp_path / "state", settings(remote, interval="1s"), answer) as told:
            await told.until(lambda now: now.ref == "b")
            await told.until(lambda now: now.ref == "main")
            began = asyncio.get_running_loop().time()
            count = len(told.proposals)
            await told.until(lambda now: len(told.proposals) >= count + 2)
            assert asyncio.get_running_loop().time() - began > 1.0

    asyncio.run(main())


def test_a_profile_without_the_section_ends_it_loudly(tmp_path: Path) -> None:
    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        first = remote.commit({PROFILE: "one"})
        async with following(tmp_path / "state", settings(remote)) as told:
            await told.settled(first)
            told.agent.configure(None)
            assert told.agent.status is None
            assert "warning: gitops: the profile that runs has no gitops section" in told.notes[-1]
            remote.commit({PROFILE: "two"})
            await asyncio.sleep(0.8)
            assert told.texts == ["one"]
            told.agent.configure(settings(remote))
            await told.until(lambda now: now.state == "Synced")
            assert told.texts == ["one", "two"]

    asyncio.run(main())


def test_a_remote_that_never_answers_holds_nothing_up(tmp_path: Path) -> None:
    """It takes the connection and is silent: given up in time, and left at once for another one."""

    async def main() -> None:
        others = set(psutil.Process().children())
        remote = Remote(tmp_path / "remote")
        first = remote.commit({PROFILE: "one"})
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
            async with following(tmp_path / "state", settings(address), answer=1.5) as told:
                status = await told.until(lambda now: now.state == "Degraded")
                assert "AP1008" in status.error and "within 1.5 s" in status.error
            async with following(tmp_path / "state", settings(address), answer=600.0) as told:
                await asyncio.sleep(1.0)
                assert told.status.checked is None
                told.agent.configure(settings(remote))
                assert (await told.settled(first)).state == "Synced"
            async with following(tmp_path / "state", settings(address), answer=600.0):
                await asyncio.sleep(0.5)
            assert set(psutil.Process().children()) <= others, "what hung is gone with who waited for it"

    asyncio.run(main())


def test_settings_that_change_while_a_commit_is_being_tried(tmp_path: Path) -> None:
    """Its outcome belongs to the place it came from, and is not taken for the new one's."""

    async def main() -> None:
        remote, other = Remote(tmp_path / "remote"), Remote(tmp_path / "other")
        remote.commit({PROFILE: "one"})
        theirs = other.commit({PROFILE: "theirs"})
        told: Following

        def answer(proposal: Proposal) -> Outcome:
            if proposal.text == "one":
                told.agent.configure(settings(other))
            return Outcome("failed" if proposal.text == "one" else "applied", 1, 1)

        async with following(tmp_path / "state", settings(remote), answer) as told:
            assert (await told.settled(theirs)).state == "Synced"
            assert told.status.error == ""

    asyncio.run(main())
