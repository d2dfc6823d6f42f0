"""The client for a repository's address. It only ever reads."""

import errno
import re
import shlex
from urllib.parse import unquote, urlsplit

from dulwich.client import (
    GitClient,
    HttpGitClient,
    HTTPProxyUnauthorized,
    HTTPUnauthorized,
    LocalGitClient,
    get_transport_and_path,
)
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository

from .errors import FailedError
from .exchange import Ask

SILENCE = 20.0
"""Seconds without a byte after which a connection is given up."""


def open_remote(ask: Ask) -> tuple[GitClient, str]:
    """Client, and the repository's path for it."""
    if ask.kind == "file":
        return LocalGitClient(quiet=True), unquote(urlsplit(ask.repo).path) if "://" in ask.repo else ask.repo
    if ask.kind in ("https", "http"):
        user, secret = (ask.username, ask.token) if ask.token else (None, None)
        return HttpGitClient(ask.repo, username=user, password=secret, timeout=SILENCE, quiet=True), ""
    return get_transport_and_path(ask.repo, ssh_command=_ssh(ask), quiet=True)


def _ssh(ask: Ask) -> str:
    options = ["BatchMode=yes", "StrictHostKeyChecking=yes", f"ConnectTimeout={SILENCE:.0f}", "ForwardAgent=no"]
    options += [f"ServerAliveInterval={SILENCE:.0f}", "ServerAliveCountMax=1"]
    if ask.key_file:
        options += ["IdentitiesOnly=yes", f"IdentityFile={_quoted(ask.key_file)}"]
    if ask.known_hosts:
        options.append(f"UserKnownHostsFile={_quoted(ask.known_hosts)}")
    return shlex.join(["ssh", *(part for option in options for part in ("-o", option))])


def _quoted(path: str) -> str:
    """ssh takes an option's value apart at blanks, and replaces %."""
    return '"' + path.replace("%", "%%") + '"'


def explain(error: Exception, ask: Ask) -> FailedError:
    """What went wrong on the way, for an operator. No error of these libraries leaves without coming by here."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in (errno.EFBIG, errno.ENOMEM)):
        fact = f"the repository needs more than {ask.limit >> 20} MiB"
        return FailedError("AP1006", fact, "keep profiles in a repository of their own")
    if isinstance(error, HTTPUnauthorized | HTTPProxyUnauthorized):
        who = "the proxy" if isinstance(error, HTTPProxyUnauthorized) else "the repository"
        fact = f"{who} refuses these credentials" if ask.token else f"{who} asks for credentials"
        return FailedError("AP1007", fact, "name an access token that may read it in gitops.credentials")
    if isinstance(error, NotGitRepository):
        fact = "there is no git repository at this address, or these credentials do not see it"
        return FailedError("AP1001", fact, "correct gitops.repo or gitops.credentials")
    said = _words(error, ask)
    if "host key verification failed" in said.lower():
        return FailedError("AP1007", "ssh does not know the host's key", "write it to a file for gitops.known_hosts")
    if re.search(r"permission denied \(", said.lower()):
        return FailedError("AP1007", f"ssh: {said}", "name a private key that may read it in gitops.credentials")
    return FailedError("AP1001", f"the repository cannot be reached: {said}", "see that the address answers")


def _words(error: Exception, ask: Ask) -> str:
    if isinstance(error, FileNotFoundError) and error.filename == "ssh":
        return "this machine has no ssh program"
    lines: list[str] = []
    if isinstance(error, HangupException) and error.stderr_lines:
        lines = [line.decode(errors="replace").strip() for line in error.stderr_lines if line.strip()]
    text = lines[-1] if lines else (error.strerror if isinstance(error, OSError) and error.strerror else str(error))
    text = text or type(error).__name__
    if isinstance(error, GitProtocolError) and (cause := re.search(r"Caused by \w+\((.*)\)", text)):
        text = cause[1]
    text = re.sub(r"<[^>]*object at 0x[0-9a-f]+>:? ?", "", text).strip("\"' ")
    text = text.replace(ask.token, "•") if ask.token else text
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"
