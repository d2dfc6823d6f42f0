"""Only commits that a listed key signed are read: also one that git and ssh-keygen themselves have written."""

import asyncio
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from dulwich.objects import Commit
from git_remote import PROFILE, Remote, following, settings

from appliance.supervise.gitops.errors import RefusedError
from appliance.supervise.gitops.signature import check_signature

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBzODnqLVRa6x8JMCscMdC9w7cyL4veU/RjHJ+QeyozB ops@example.org"
BY_GIT = b"""\
tree 0908a7ddfa8ec771665991910c09e95688b1a141
author Ada <ada@example.org> 1767323045 +0000
committer Ada <ada@example.org> 1767323045 +0000
gpgsig -----BEGIN SSH SIGNATURE-----
 U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgHM4OeotVFrrHwkwKxwx0L3DtzI
 vi95T9GMcn5B7KjMEAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5
 AAAAQDvuq1ukAXuf0J9+43qtYTTPwKGYbPsGocQtqSvVaobZy6+58cecYaP7zpZkMYpWuZ
 8tpvQbioDzKdofg2pSbw4=
 -----END SSH SIGNATURE-----

signed by git itself
"""
PGP = b"-----BEGIN PGP SIGNATURE-----\n\niQEzBAAB\n-----END PGP SIGNATURE-----"
CMS = b"-----BEGIN SIGNED MESSAGE-----\nMIIB\n-----END SIGNED MESSAGE-----"


def line(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode().strip()


def test_a_commit_that_git_signed() -> None:
    check_signature(Commit.from_string(BY_GIT), (KEY,))
    with pytest.raises(RefusedError, match="another text"):
        check_signature(Commit.from_string(BY_GIT.replace(b"git itself", b"somebody")), (KEY,))


@pytest.fixture(scope="module")
def keys() -> dict[str, asyncssh.SSHKey]:
    return {name: asyncssh.generate_private_key("ssh-ed25519") for name in ("listed", "second", "other")}


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "no signature": ({}, "is not signed"),
    "another key": ({"key": "other"}, "no listed key"),
    "for files, not for git": ({"key": "listed", "namespace": "file"}, "no listed key"),
    "OpenPGP": ({"signature": PGP}, "OpenPGP"),
    "X.509": ({"signature": CMS}, "X.509"),
    "noise": ({"signature": b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----"}, "no listed key"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_no_listed_key_signed_is_invalid(case: str, tmp_path: Path, keys: dict[str, asyncssh.SSHKey]) -> None:
    options, words = CASES[case]
    options = {**options, "key": keys[options["key"]]} if "key" in options else options

    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        listed = (line(keys["listed"]), line(keys["second"]))
        first = remote.commit({PROFILE: "one"}, key=keys["second"])
        async with following(tmp_path / "state", settings(remote, signed_by=listed)) as told:
            assert (await told.settled(first)).state == "Synced"
            bad = remote.commit({PROFILE: "two"}, **options)
            status = await told.settled(bad)
            assert (status.state, status.running) == ("Invalid", first)
            assert "AP1005" in status.error and words in status.error
            assert told.texts == ["one"]

    asyncio.run(main())


def test_keys_of_the_running_profile_decide(tmp_path: Path, keys: dict[str, asyncssh.SSHKey]) -> None:
    """A key that is added later makes the same commit good, without a new one."""

    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        first = remote.commit({PROFILE: "one"}, key=keys["other"])
        where = settings(remote, signed_by=(line(keys["listed"]),))
        async with following(tmp_path / "state", where) as told:
            assert (await told.settled(first)).state == "Invalid"
            told.agent.configure(settings(remote, signed_by=(line(keys["listed"]), line(keys["other"]))))
            assert (await told.until(lambda now: now.state == "Synced")).running == first

    asyncio.run(main())
