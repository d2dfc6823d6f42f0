"""The one file of a commit that is read, by its path; links are never followed."""

import stat

from dulwich.object_store import BaseObjectStore
from dulwich.objects import Blob, Commit, ShaFile, Tree, TreeEntry

from .errors import RefusedError

POINTER = b"version https://git-lfs.github.com/spec/"


def profile_text(store: BaseObjectStore, commit: Commit, path: str, limit: int) -> str:
    """RefusedError where there is no text of a profile's size, which is `limit` bytes."""
    data = _blob(store, commit, path).data
    if data.startswith(POINTER):
        raise RefusedError("AP1004", f"{path} is a pointer of Git LFS, not the text", "keep profiles out of LFS")
    if len(data) > limit:
        raise RefusedError("AP1004", f"{path} is larger than {limit >> 20} MiB", "a profile is a page of text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fact = f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8"
        raise RefusedError("AP1004", fact, "save the file as UTF-8") from None


def _blob(store: BaseObjectStore, commit: Commit, path: str) -> Blob:
    at, found = "", store[commit.tree]
    for name in path.split("/"):
        entry = _entry(found, name)
        at = f"{at}/{name}".lstrip("/")
        if entry is None:
            raise RefusedError("AP1003", f"the commit has no file {path}", "correct gitops.path, or put the file back")
        if stat.S_ISLNK(entry.mode):
            raise RefusedError("AP1003", f"{at} is a link, and links are not followed", "name the file itself")
        if stat.S_IFMT(entry.mode) == 0o160000:
            raise RefusedError("AP1003", f"{at} is another repository", "follow that one")
        found = store[entry.sha]
    if not isinstance(found, Blob):
        raise RefusedError("AP1003", f"{path} is a folder", "name the profile inside it")
    return found


def _entry(found: ShaFile, name: str) -> TreeEntry | None:
    key = name.encode()
    return next((entry for entry in found.iteritems() if entry.path == key), None) if isinstance(found, Tree) else None
