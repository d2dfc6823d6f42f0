"""Repositories behind https with a token and behind ssh with a key, both by reference; nothing of a secret is shown."""

import asyncio
from pathlib import Path
from typing import Any

import asyncssh
import git_servers
import pytest
from git_remote import PROFILE, Remote, following, settings

TOKEN = "token-1234-very-secret"


def test_https_with_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        first = remote.commit({PROFILE: "one"})
        cert = git_servers.certificate(tmp_path)
        monkeypatch.setenv("A_GIT_TOKEN", TOKEN)
        with git_servers.https(remote.path, "git", TOKEN, cert) as address:
            given: dict[str, Any] = {"credentials": {"env": "A_GIT_TOKEN"}}
            async with following(tmp_path / "untrusted", settings(address, **given)) as told:
                status = await told.until(lambda now: now.state == "Degraded")
                assert "AP1001" in status.error and "certificate" in status.error
                assert TOKEN not in repr((status, told.notes))
            monkeypatch.setenv("SSL_CERT_FILE", str(cert[0]))
            async with following(tmp_path / "state", settings(address)) as told:
                assert "AP1007" in (await told.until(lambda now: now.state == "Degraded")).error
                told.agent.configure(settings(address, **given))
                assert (await told.settled(first)).state == "Synced"
                second = remote.commit({PROFILE: "two"})
                assert (await told.settled(second)).state == "Synced"
                assert told.texts == ["one", "two"]
                file = tmp_path / "token"
                file.write_text(f"not-{TOKEN}\n")
                told.agent.configure(settings(address, credentials={"file": str(file)}))
                status = await told.until(lambda now: now.state == "Degraded")
                assert "refuses these credentials" in status.error and TOKEN not in repr((status, told.notes))
                file.write_text(f"{TOKEN}\n")
                await told.until(lambda now: now.state == "Synced")
                file.unlink()
                status = await told.until(lambda now: now.state == "Degraded")
                assert "AP1007" in status.error and "cannot be read" in status.error

    asyncio.run(main())


def test_ssh_with_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        remote = Remote(tmp_path / "remote")
        first = remote.commit({PROFILE: "one"})
        host, key, other = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(3))
        monkeypatch.setenv("A_GIT_KEY", key.export_private_key().decode())
        file = tmp_path / "other key"
        file.touch(mode=0o600)
        file.write_bytes(other.export_private_key())
        async with git_servers.ssh(host, key) as port:
            known = tmp_path / "known hosts"
            known.write_text(f"[127.0.0.1]:{port} {host.export_public_key().decode()}")
            empty = tmp_path / "empty"
            empty.touch()
            address = f"ssh://git@127.0.0.1:{port}{remote.path}"

            def where(known: Path, **credentials: str) -> Any:
                return settings(address, credentials=credentials, known_hosts=str(known))

            async with following(tmp_path / "state", where(empty, env="A_GIT_KEY")) as told:
                status = await told.until(lambda now: now.state == "Degraded")
                assert "AP1007" in status.error and "known_hosts" in status.error
                told.agent.configure(where(known, file=str(file)))
                status = await told.until(lambda now: "ermission denied" in now.error)
                assert "AP1007" in status.error
                told.agent.configure(where(known, env="A_GIT_KEY"))
                assert (await told.settled(first)).state == "Synced"
                second = remote.commit({PROFILE: "two"})
                assert (await told.settled(second)).state == "Synced"
            assert not list((tmp_path / "state").rglob("key")), "the key's copy lasts for one look"

    asyncio.run(main())
