"""From the section `gitops` to the question that a look answers."""

from pathlib import Path

from appliance.profile.gitops import GitOps
from appliance.profile.repository import repository_kind
from appliance.profile.text import MAX_BYTES

from .credentials import private_key, token
from .errors import FailedError
from .exchange import Ask


def make_ask(settings: GitOps, clone: Path, scratch: Path, limit: int, known: str, before: str) -> Ask:
    """Reads the credentials where they are kept, each time: a replaced secret needs no restart. FailedError AP1007."""
    given, kind = settings.credentials, repository_kind(settings.repo)
    if kind is None:
        raise FailedError("AP1001", "this is not the address of a repository", "correct gitops.repo")
    ssh = kind == "ssh"
    return Ask(
        repo=settings.repo,
        kind=kind,
        ref=settings.ref,
        path=settings.path,
        clone=str(clone),
        limit=limit,
        text_limit=MAX_BYTES,
        known=known,
        before=before,
        token=token(given) if given and not ssh else "",
        username=given.username if given else "",
        key_file=str(private_key(given, scratch)) if given and ssh else "",
        known_hosts=settings.known_hosts or "",
        signed_by=settings.signed_by,
    )
