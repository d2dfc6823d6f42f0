"""Section `gitops`: the repository the profile is followed from. Secrets are named here, never written."""

from typing import Annotated

from pydantic import Field

from .secret import VARIABLE, Secret
from .setting import Section, setting
from .types import Duration, FilePath


class GitCredentials(Secret):
    """An access token for https, a private key for ssh."""

    env: str | None = setting(
        None,
        description="Environment variable that holds the access token, or the text of the SSH private key.",
        reload="live",
        pattern=VARIABLE,
        form="the name of an environment variable",
    )
    file: FilePath | None = setting(
        None, description="File whose first line is the access token, or that is the SSH private key.", reload="live"
    )
    username: str = setting(
        "git", description="User name that goes with an access token; ssh takes its own from repo.", reload="live"
    )


class GitOps(Section):
    repo: str = setting(
        description="Address of the git repository: https://, ssh:// or user@host:path, file:// or an absolute path.",
        reload="live",
        min_length=1,
    )
    ref: str = setting("main", description="Branch or tag that is followed.", reload="live", min_length=1)
    path: str = setting(description="The profile's path inside the repository.", reload="live", min_length=1)
    interval: Duration = setting(60.0, description="Time between two looks.", unit="seconds", reload="live")
    credentials: Annotated[GitCredentials, Field(description="What opens the repository.")] | None = setting(
        None,
        description="Access token or SSH private key; null: what the repository shows to everybody, or to ssh's agent.",
        reload="live",
    )
    known_hosts: FilePath | None = setting(
        None, description="File with the host keys that ssh accepts; null: those this user knows.", reload="live"
    )
    signed_by: tuple[str, ...] = setting(
        (),
        description="SSH public keys of which one must have signed a commit before it is applied; empty: any commit.",
        reload="live",
    )
