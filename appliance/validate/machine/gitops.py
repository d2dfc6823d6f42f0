"""Is what opens the followed repository where the profile says it is? Its value is never shown."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ...diagnostics import Diagnostic, Severity
from ...profile.repository import repository_kind
from ..facts import Facts
from .secret import in_file, in_variable

PATH = "gitops.credentials"


def credentials(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    given = gitops.credentials if gitops else None
    if gitops is None or given is None:
        return
    ssh = repository_kind(gitops.repo) == "ssh"
    if given.env is not None:
        yield from _variable(facts, given.env, ssh)
    elif given.file is not None:
        yield from _file(facts, given.file, ssh)


def known_hosts(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and gitops.known_hosts and not Path(gitops.known_hosts).is_file():
        yield facts.error("AP0303", "gitops.known_hosts", f"no file {gitops.known_hosts}", "correct the path")


def _variable(facts: Facts, name: str, ssh: bool) -> Iterator[Diagnostic]:
    value = facts.environ.get(name)
    if ssh and value and "PRIVATE KEY" not in value:
        fact = f"the environment variable {name} holds no private key"
        yield facts.error("AP0305", PATH, fact, "put the text of the key file in it")
    elif not ssh or not value:
        yield from in_variable(facts, PATH, name)


def _file(facts: Facts, name: str, ssh: bool) -> Iterator[Diagnostic]:
    """Like ssh itself: of somebody else's file, such as one that a cluster mounts, the permissions do not matter."""
    found = list(in_file(facts, PATH, name))
    if ssh and not any(one.severity is Severity.ERROR for one in found) and _refused(Path(name)):
        yield facts.error("AP0307", PATH, f"ssh refuses {name}, which others can read", f"chmod 600 {name}")
    else:
        yield from found


def _refused(key: Path) -> bool:
    told = key.stat()
    return told.st_uid == os.getuid() and bool(told.st_mode & (stat.S_IRWXG | stat.S_IRWXO))
