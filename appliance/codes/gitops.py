"""Codes of following a git repository, as status, logs and history show them."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP1001",
        "the repository cannot be reached",
        "The address did not answer, or no repository that these credentials see is there. What runs stays; the "
        "appliance looks again, after longer and longer waits.",
        "See that the machine reaches the address, and that `gitops.repo` is right.",
    ),
    Code(
        "AP1002",
        "no such branch or tag",
        "The repository answers, and what `gitops.ref` names is not in it (any more). What runs stays.",
        "Correct `gitops.ref`, or put the branch back.",
    ),
    Code(
        "AP1003",
        "no profile at this path",
        "The commit has no plain file at `gitops.path`: it was moved or deleted, or is a folder, a link or a "
        "submodule. Links are not followed, because a link can lead out of what was reviewed. What runs stays.",
        "Put the file back, or correct `gitops.path` in the profile that runs.",
    ),
    Code(
        "AP1004",
        "no text of a profile",
        "The file is not UTF-8, is larger than 1 MiB, or is a pointer of Git LFS. What runs stays.",
        "Commit the profile as plain UTF-8 text.",
    ),
    Code(
        "AP1005",
        "not signed by a listed key",
        "`gitops.signed_by` lists keys, and none of them signed this commit: it has no signature, one of another kind, "
        "or one that was made for another text. The file was not read. The keys are those of the profile that runs, so "
        "a commit cannot vouch for itself.",
        "Sign the commit: `git config gpg.format ssh`, `git config user.signingkey KEY.pub`, `git commit -S`.",
    ),
    Code(
        "AP1006",
        "a repository that is too large",
        "The last 32 commits need more room than the appliance gives the copy of a repository (256 MiB).",
        "Keep profiles in a repository of their own.",
    ),
    Code(
        "AP1007",
        "the repository does not open",
        "Credentials are missing, cannot be read or are refused, or ssh does not know the host.",
        "Correct `gitops.credentials` or `gitops.known_hosts`. They are read anew for every look.",
    ),
    Code(
        "AP1008",
        "the repository does not answer in time",
        "The address took the connection and then said nothing, or sent too slowly. The look was ended; nothing waits "
        "for it, and it is tried again after a pause.",
        "See that the address answers: `git ls-remote ADDRESS`.",
    ),
    Code(
        "AP1009",
        "a look ended early",
        "The process that looks at the repository could not be started, could not write its copy, or was killed.",
        "Read what the message says; room in the state folder and memory are usual causes.",
    ),
)

CODES = {page.code: page for page in _PAGES}
