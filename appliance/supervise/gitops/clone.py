"""The copy of the followed repository in the state folder: a few commits deep, bounded, made anew when it is broken."""

import shutil
from collections.abc import Callable
from pathlib import Path

from dulwich.client import GitClient
from dulwich.objects import Commit, ObjectID, Tag
from dulwich.refs import Ref
from dulwich.repo import Repo

from .errors import FailedError, RefusedError
from .exchange import Ask, Found

Read = Callable[[Repo, Commit], Found]
DEPTH = 32
"""Commits: enough to tell an ordinary push from a rewritten history."""


def find_tip(client: GitClient, path: str, ask: Ask) -> ObjectID:
    """What `ref` names over there. A branch goes before a tag of the same name."""
    whole = ask.ref == "HEAD" or ask.ref.startswith("refs/")
    texts = [ask.ref] if whole else [f"refs/heads/{ask.ref}", f"refs/tags/{ask.ref}"]
    names = [text.encode() for text in texts]
    refs = client.get_refs(path.encode(), ref_prefix=names).refs
    for name in names:
        if found := refs.get(Ref(name)):
            return found
    raise FailedError("AP1002", f'the repository has no branch or tag "{ask.ref}"', "correct gitops.ref")


def read_commit(client: GitClient, path: str, tip: ObjectID, ask: Ask, read: Read) -> Found:
    """Fetches what `tip` needs and hands the commit to `read`. A copy that fails for any reason is made anew once."""
    folder = Path(ask.clone)
    if folder.exists() and _size(folder) > ask.limit:
        shutil.rmtree(folder)
    if folder.exists():
        try:
            return _read(client, path, tip, folder, read)
        except RefusedError:
            raise
        except Exception:
            shutil.rmtree(folder)
    try:
        return _read(client, path, tip, folder, read)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _read(client: GitClient, path: str, tip: ObjectID, folder: Path, read: Read) -> Found:
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
        Repo.init_bare(folder).close()
    with Repo(str(folder), bare=True) as repo:
        if tip not in repo.object_store:
            client.fetch(path.encode(), repo, determine_wants=lambda refs, depth=None: [tip], depth=DEPTH)
        return read(repo, _peel(repo, tip))


def _peel(repo: Repo, tip: ObjectID) -> Commit:
    found = repo[tip]
    while isinstance(found, Tag):
        found = repo[found.object[1]]
    if not isinstance(found, Commit):
        raise RefusedError("AP1003", "the tag names no commit", "move the tag to one")
    return found


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def descends(repo: Repo, commit: Commit, before: str) -> bool:
    """Is the commit `before` this one, or among its ancestors as far as the copy knows them?"""
    waiting, seen = [commit.id], set[bytes]()
    while waiting:
        one = waiting.pop()
        if one == before.encode():
            return True
        if one not in seen and one in repo.object_store:
            seen.add(one)
            found = repo[one]
            waiting += found.parents if isinstance(found, Commit) else []
    return False
