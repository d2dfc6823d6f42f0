"""What the agent and the process that looks at a repository say to each other, as JSON."""

import msgspec


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """Holds secrets: travels on standard input alone, and is never shown."""

    repo: str
    kind: str
    """https, http, ssh, file"""
    ref: str
    path: str
    clone: str
    """Folder of the copy; made where it is not there, emptied where it has grown beyond `limit`."""
    limit: int
    """Bytes that the repository may take on disk, and no more than that is ever downloaded at once."""
    text_limit: int
    """Bytes of a profile."""
    known: str = ""
    """The object that `ref` named when it was looked at last: the same one needs no second look."""
    before: str = ""
    """The commit that was seen last, to tell a rewritten history."""
    token: str = ""
    username: str = ""
    key_file: str = ""
    known_hosts: str = ""
    signed_by: tuple[str, ...] = ()


class Same(msgspec.Struct, frozen=True, tag="same"):
    """`ref` names what it named before."""


class Found(msgspec.Struct, frozen=True, kw_only=True, tag="found"):
    tip: str
    """The object that `ref` names: the commit, or an annotated tag."""
    commit: str
    author: str
    subject: str
    time: int
    """Of the commit, in seconds since the epoch, as its author's machine had it."""
    text: str
    rewritten: bool = False
    """The commit seen before is not among the last ones of this history."""


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """This commit holds nothing that can be tried; looking again would not change that."""

    tip: str
    commit: str
    author: str
    subject: str
    code: str
    fact: str
    fix: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """No answer from the repository; another look may have one."""

    code: str
    fact: str
    fix: str


Answer = Same | Found | Refused | Failed
