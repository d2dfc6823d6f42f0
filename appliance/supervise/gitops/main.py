"""One look at a repository, in a process of its own: it may hang or be sent too much, and nobody waits for it."""

import gc
import resource
import signal
import sys

import msgspec
from dulwich.objects import Commit
from dulwich.repo import Repo

from .clone import descends, find_tip, read_commit
from .errors import FailedError, RefusedError
from .exchange import Answer, Ask, Failed, Found, Refused, Same
from .remote import explain, open_remote
from .tree import profile_text

MEMORY = 3 << 30
"""Bytes of address space; what is packed small can be large unpacked."""
LIFE = 300
"""Seconds after which it ends though nobody ended it."""


def look(ask: Ask) -> Answer:
    looked: list[Commit] = []
    tip = ""

    def read(repo: Repo, commit: Commit) -> Found:
        looked[:] = [commit]
        if ask.signed_by:
            from .signature import check_signature

            check_signature(commit, ask.signed_by)
        text = profile_text(repo.object_store, commit, ask.path, ask.text_limit)
        rewritten = bool(ask.before) and not descends(repo, commit, ask.before)
        return Found(tip=tip, **_about(commit), time=commit.commit_time, text=text, rewritten=rewritten)

    try:
        client, path = open_remote(ask)
        found = find_tip(client, path, ask)
        tip = found.decode()
        return Same() if tip == ask.known else read_commit(client, path, found, ask, read)
    except RefusedError as error:
        about = _about(looked[0]) if looked else {"commit": tip, "author": "", "subject": ""}
        return Refused(tip=tip, **about, code=error.code, fact=error.fact, fix=error.fix)
    except FailedError as error:
        return Failed(code=error.code, fact=error.fact, fix=error.fix)
    except Exception as error:
        known = explain(error, ask)
        return Failed(code=known.code, fact=known.fact, fix=known.fix)


def _about(commit: Commit) -> dict[str, str]:
    subject = commit.message.decode(errors="replace").strip().partition("\n")[0]
    return {
        "commit": commit.id.decode(),
        "author": _line(commit.author.decode(errors="replace")),
        "subject": _line(subject),
    }


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])


def main() -> None:
    signal.alarm(LIFE)
    ask = msgspec.json.decode(sys.stdin.buffer.read(), type=Ask)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ask.limit, ask.limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answer = look(ask)
    gc.collect()
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")


if __name__ == "__main__":
    main()
