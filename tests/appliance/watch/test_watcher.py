"""Edits as editors, operators and Kubernetes make them, on a real file system."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import watching as support
from watching import Seen, watching

from appliance.supervise.watch import Watcher


def run(edit: Callable[[Path, Seen], Awaitable[None]], file: Path, polling: bool = False) -> Seen:
    async def main() -> Seen:
        async with watching({file: "file"}, polling) as seen:
            await edit(file, seen)
            return seen

    return asyncio.run(main())


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    file = tmp_path / "etc" / "profile.yaml"
    file.parent.mkdir()
    file.write_text("one")
    return file


@pytest.mark.parametrize("polling", [False, True], ids=["events", "polling"])
def test_plain_save(profile: Path, polling: bool) -> None:
    async def edit(file: Path, seen: Seen) -> None:
        file.write_text("two")
        assert await seen.until(1) == ["file profile.yaml changed"]
        file.write_text("six")
        assert await seen.until(2) == ["file profile.yaml changed"] * 2

    assert run(edit, profile, polling).said == []


@pytest.mark.parametrize("polling", [False, True], ids=["events", "polling"])
def test_atomic_rename_again_and_again(profile: Path, polling: bool) -> None:
    async def edit(file: Path, seen: Seen) -> None:
        for count, text in enumerate(("two", "three", "four"), 1):
            part = file.with_name(".part")
            part.write_text(text)
            part.replace(file)
            await seen.until(count)
        assert await seen.quiet() == ["file profile.yaml changed"] * 3

    run(edit, profile, polling)


def test_vim_with_backup(profile: Path) -> None:
    """backupcopy=no: swap file, probe file, the original renamed to the backup, a new file written, backup deleted."""

    async def edit(file: Path, seen: Seen) -> None:
        swap, probe, backup = (file.with_name(name) for name in (".profile.yaml.swp", "4913", "profile.yaml~"))
        swap.write_text("swap")
        probe.write_text("")
        probe.unlink()
        file.rename(backup)
        await asyncio.sleep(0.12)
        file.write_text("two")
        backup.unlink()
        swap.unlink()
        assert await seen.until(1) == ["file profile.yaml changed"]
        assert await seen.quiet() == ["file profile.yaml changed"]

    run(edit, profile)


def test_nothing_of_an_editor_at_work(profile: Path) -> None:
    """Neighbours, a save without an edit, a touch, and an equal file renamed over it are no change."""

    async def edit(file: Path, seen: Seen) -> None:
        for name in (".profile.yaml.swp", "profile.yaml~", "#profile.yaml#", "profile.yaml.bak", "other.yaml"):
            file.with_name(name).write_text("neighbour")
        file.with_name(".#profile.yaml").symlink_to("nobody@nowhere.1:1")
        file.write_text("one")
        os.utime(file, (1, 1))
        part = file.with_name(".part")
        part.write_text("one")
        part.replace(file)
        assert await seen.quiet() == []

    run(edit, profile)


def test_config_map_and_secret_swap(tmp_path: Path) -> None:
    """The kubelet turns `..data` to a new folder: the watched names and their links never change."""
    volume = tmp_path / "volume"

    def publish(version: str, text: str) -> None:
        (volume / version).mkdir(parents=True)
        for name in ("profile.yaml", "key"):
            (volume / version / name).write_text(text if name == "profile.yaml" else "the key")
        (volume / "..data_tmp").symlink_to(version)
        old = (volume / "..data").resolve()
        (volume / "..data_tmp").rename(volume / "..data")
        if (volume / "profile.yaml").is_symlink():
            shutil.rmtree(old)

    async def main() -> None:
        publish("..2026_01", "one")
        for name in ("profile.yaml", "key"):
            (volume / name).symlink_to(f"..data/{name}")
        async with watching({volume / "profile.yaml": "file", volume / "key": "secret"}) as seen:
            publish("..2026_02", "two")
            assert await seen.until(1) == ["file profile.yaml changed"]
            publish("..2026_03", "two")
            publish("..2026_04", "three")
            assert await seen.until(2) == ["file profile.yaml changed"] * 2
            assert await seen.quiet() == ["file profile.yaml changed"] * 2

    asyncio.run(main())


def test_link_to_a_folder_is_turned(tmp_path: Path) -> None:
    async def main() -> None:
        for release, text in (("v1", "one"), ("v2", "two")):
            (tmp_path / release / "conf").mkdir(parents=True)
            (tmp_path / release / "conf" / "profile.yaml").write_text(text)
        (tmp_path / "current").symlink_to(tmp_path / "v1")
        async with watching({tmp_path / "current" / "conf" / "profile.yaml": "file"}) as seen:
            (tmp_path / "next").symlink_to(tmp_path / "v2")
            (tmp_path / "next").replace(tmp_path / "current")
            await seen.until(1)
            (tmp_path / "v2" / "conf" / "profile.yaml").write_text("three")
            assert await seen.until(2) == ["file profile.yaml changed"] * 2

    asyncio.run(main())


@pytest.mark.parametrize("polling", [False, True], ids=["events", "polling"])
def test_deleted_and_back(profile: Path, polling: bool) -> None:
    async def edit(file: Path, seen: Seen) -> None:
        file.unlink()
        assert await seen.until(1) == ["file profile.yaml removed"]
        file.write_text("one")
        assert (await seen.until(2))[1] == "file profile.yaml returned"
        file.write_text("two")
        assert (await seen.until(3))[2] == "file profile.yaml changed"

    run(edit, profile, polling)


def test_folder_vanishes_and_returns(profile: Path) -> None:
    async def edit(file: Path, seen: Seen) -> None:
        for count in (1, 3):
            shutil.rmtree(file.parent)
            assert (await seen.until(count))[-1] == "file profile.yaml removed"
            file.parent.mkdir()
            file.write_text("two")
            assert (await seen.until(count + 1))[-1] == "file profile.yaml returned"
        file.write_text("three")
        assert (await seen.until(5))[-1] == "file profile.yaml changed"

    run(edit, profile)


def test_folder_is_replaced_as_a_whole(profile: Path) -> None:
    async def edit(file: Path, seen: Seen) -> None:
        new = file.parent.with_name("new")
        new.mkdir()
        (new / file.name).write_text("two")
        file.parent.rename(file.parent.with_name("old"))
        new.rename(file.parent)
        assert (await seen.until(1))[-1] in {"file profile.yaml changed", "file profile.yaml returned"}
        before = len(seen.changes)
        file.write_text("three")
        assert (await seen.until(before + 1))[-1] == "file profile.yaml changed"

    run(edit, profile)


def test_storm_reports_now_and_then_and_ends_with_the_last_state(profile: Path) -> None:
    read: list[str] = []

    async def edit(file: Path, seen: Seen) -> None:
        for number in range(100):
            file.write_text(f"save {number}")
            await asyncio.sleep(0.02)
            if len(seen.changes) > len(read):
                read.append(file.read_text())
        await seen.quiet()
        last = len(seen.changes)
        assert await seen.quiet() == ["file profile.yaml changed"] * last
        assert 3 <= last < 80
        assert len(read) >= 2

    seen = run(edit, profile)
    before = len(seen.changes)
    asyncio.run(seen.watcher.check())
    assert len(seen.changes) == before, "the last save was not among the reports"


def test_saves_while_the_callback_is_busy_are_found_afterwards(profile: Path) -> None:
    async def main() -> None:
        seen: list[str] = []

        async def slow(change: support.Change) -> None:
            seen.append(profile.read_text())
            await asyncio.sleep(0.5)

        watcher = support.Watcher({profile: "file"}, slow, print)
        task = asyncio.create_task(watcher.run())
        await asyncio.sleep(0.3)
        for text in ("two", "three", "last"):
            profile.write_text(text)
            await asyncio.sleep(0.2)
        async with asyncio.timeout(support.DEADLINE):
            while seen[-1:] != ["last"]:
                await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())


def test_watched_files_are_replaced_live(profile: Path, tmp_path: Path) -> None:
    key = tmp_path / "secrets" / "key"

    async def edit(file: Path, seen: Seen) -> None:
        seen.watcher.replace({file: "file", key: "secret"})
        key.parent.mkdir()
        key.write_text("k1")
        assert await seen.until(1) == ["secret key returned"]
        key.write_text("k2")
        assert (await seen.until(2))[-1] == "secret key changed"
        seen.watcher.replace({file: "file"})
        key.write_text("k3")
        file.write_text("two")
        assert (await seen.until(3))[-1] == "file profile.yaml changed"
        assert len(await seen.quiet()) == 3

    run(edit, profile)


def test_edit_between_construction_and_start_is_not_lost(profile: Path) -> None:
    async def main() -> None:
        seen = Seen()
        watcher = support.Watcher({profile: "file"}, seen.note, print)
        profile.write_text("two")
        task = asyncio.create_task(watcher.run())
        assert await seen.until(1) == ["file profile.yaml changed"]
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())


def test_what_is_no_readable_file(profile: Path) -> None:
    """A pipe is never opened: that would wait for a writer."""

    async def edit(file: Path, seen: Seen) -> None:
        file.unlink()
        os.mkfifo(file)
        await seen.until(1)
        assert (seen.changes[-1].what, seen.changes[-1].detail) == ("unreadable", "not a regular file")
        file.unlink()
        file.symlink_to(file.name)
        await seen.until(2)
        assert "symbolic link" in seen.changes[-1].detail

    run(edit, profile)


def test_broken_events_are_told_and_replaced_by_looking(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_watches(*paths: str, **options: object) -> None:
        raise OSError(28, "OS file watch limit reached.")

    monkeypatch.setattr("appliance.supervise.watch.watcher.awatch", out_of_watches)

    async def edit(file: Path, seen: Seen) -> None:
        file.write_text("two")
        assert await seen.until(1) == ["file profile.yaml changed"]

    (said,) = run(edit, profile).said
    assert "watch limit" in said and "looked at" in said


def test_what_another_reader_took_is_known(profile: Path) -> None:
    """Back to the text before it is an edit then, and the text itself is none."""

    async def main() -> list[str]:
        seen = Seen()
        watcher = Watcher({profile: "file"}, seen.note, seen.said.append)
        profile.write_text("two")
        watcher.reading(profile)
        await watcher.check()
        assert seen.texts == []
        profile.write_text("one")
        await watcher.check()
        return seen.texts

    assert asyncio.run(main()) == ["file profile.yaml changed"]
