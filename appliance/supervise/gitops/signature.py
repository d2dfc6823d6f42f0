"""Is a commit signed by one of the listed SSH keys? OpenPGP and X.509 signatures are not checked, so never enough."""

import asyncssh
from dulwich.objects import Commit

from .errors import RefusedError

FIX = "sign it with a listed key (git config gpg.format ssh), or list the key in gitops.signed_by"
OTHERS = {b"-----BEGIN PGP": "OpenPGP", b"-----BEGIN SIGNED": "X.509", b"-----BEGIN PKCS": "X.509"}


def check_signature(commit: Commit, keys: tuple[str, ...]) -> None:
    """RefusedError AP1005 unless one of `keys` (lines of .pub files) signed exactly this commit, for git."""
    signature = commit.gpgsig
    if not signature:
        raise RefusedError("AP1005", "the commit is not signed", FIX)
    for beginning, kind in OTHERS.items():
        if signature.startswith(beginning):
            raise RefusedError("AP1005", f"the commit is signed with {kind}, and only SSH signatures are checked", FIX)
    lines = "\n".join(f'* namespaces="git" {" ".join(key.split()[:2])}' for key in keys)
    allowed = lines.encode()
    try:
        good = asyncssh.validate_sshsig(commit.raw_without_sig(), signature, "git", allowed)
    except (ValueError, asyncssh.Error):
        good = False
    if not good:
        raise RefusedError("AP1005", "the commit's signature is of no listed key, or of another text", FIX)
