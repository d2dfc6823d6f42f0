"""A repository that can be followed, without a secret in the text."""

import re
from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ...profile.quoting import short
from ...profile.repository import holds_secret, repository_kind
from ..facts import Facts

SHORTEST = 1.0
"""Seconds between two looks."""
FORMS = "write https://host/name.git, ssh://user@host/name.git, file:///folder or /folder"


def secret_in_address(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and holds_secret(gitops.repo):
        fact = "the address holds a password or a token (not shown)"
        yield facts.error("AP0246", "gitops.repo", fact, "name it in gitops.credentials: {env: NAME} or {file: PATH}")


def address_form(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and not holds_secret(gitops.repo) and repository_kind(gitops.repo) is None:
        fact = f"{short(gitops.repo)} is not the address of a repository that can be followed"
        yield facts.error("AP0247", "gitops.repo", fact, FORMS)


def path_inside(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and not _inside(gitops.path):
        fact = f"{short(gitops.path)} is not a path inside the repository"
        yield facts.error("AP0248", "gitops.path", fact, "write it from the top, such as profiles/chat.yaml")


def ref_name(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", gitops.ref):
        yield facts.error(
            "AP0254", "gitops.ref", "a commit never moves, so nothing is followed", "name a branch or tag"
        )


def signing_keys(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if not gitops or not gitops.signed_by:
        return
    import asyncssh

    for index, line in enumerate(gitops.signed_by):
        try:
            if "PRIVATE" in line:
                raise asyncssh.KeyImportError("it is a private key")
            asyncssh.import_public_key(" ".join(line.split()[:2]))
        except (asyncssh.KeyImportError, ValueError):
            fact = "not an SSH public key"
            fix = 'write one line of a .pub file, such as "ssh-ed25519 AAAA..."; OpenPGP keys are not supported'
            yield facts.error("AP0249", f"gitops.signed_by[{index}]", fact, fix)


def credentials_fit(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if not gitops:
        return
    kind = repository_kind(gitops.repo)
    if gitops.credentials and kind == "http":
        fact = "over http:// the token would be readable on its way"
        yield facts.error("AP0251", "gitops.credentials", fact, "write https://")
    if gitops.credentials and kind == "file":
        yield facts.error("AP0251", "gitops.credentials", "a folder asks for none", "remove it")
    if gitops.known_hosts and kind in ("https", "http", "file"):
        yield facts.error("AP0251", "gitops.known_hosts", "host keys are for ssh alone", "remove it")


def unsafe_road(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and repository_kind(gitops.repo) == "http" and not gitops.signed_by:
        fact = "over http:// anybody on the way can change the profile"
        yield facts.warning("AP0252", "gitops.repo", fact, "write https://, or set gitops.signed_by")


def too_often(facts: Facts) -> Iterator[Diagnostic]:
    gitops = facts.profile.gitops
    if gitops and gitops.interval < SHORTEST:
        fact = f"a look every {gitops.interval:g} s would be all this machine and the repository's do"
        yield facts.error("AP0253", "gitops.interval", fact, f"write {SHORTEST:g}s or more")


def _inside(path: str) -> bool:
    parts = path.split("/")
    return path.isprintable() and not set(parts) & {"", ".", ".."}


RULES = (
    secret_in_address,
    address_form,
    path_inside,
    ref_name,
    signing_keys,
    credentials_fit,
    unsafe_road,
    too_often,
)
