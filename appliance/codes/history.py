"""Codes of history, the admin channel and the commands that ask a running appliance."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0901",
        "the history is of a newer appliance",
        "The state folder's `history.sqlite` was written by a newer appliance, whose revisions this one would lose.",
        "Run the newer appliance, or start with another folder: `appliance up FILE --state-dir FOLDER`.",
    ),
    Code(
        "AP0902",
        "no appliance answers",
        "The command speaks to a running appliance through the socket `admin.sock` in its state folder, and nothing "
        "answers there: it does not run, it was stopped, or it runs under another name or with another state folder.",
        "Start it with `appliance up FILE`, or name the folder it was started with: `--state-dir FOLDER`.",
    ),
    Code(
        "AP0903",
        "several appliances",
        "Several appliances run here, or none runs and several left a state folder, and the command does not say "
        "which one is meant.",
        "Write its name behind the command, such as `appliance status triage`.",
    ),
    Code(
        "AP0904",
        "no such revision",
        "The number is not in the history: it was never given, or it is older than the 1,000 revisions that are kept.",
        "`appliance history` lists the numbers that can be used.",
    ),
    Code(
        "AP0905",
        "the admin channel broke",
        "The appliance ended during the call, did not answer in time, or answered in a form that this command does not "
        "know because the two are of different versions.",
        "Ask `appliance status` how it is, and use the command of the version that runs.",
    ),
    Code(
        "AP0906",
        "the history cannot be read",
        "No appliance runs in this state folder, and its `history.sqlite` cannot be read: it is damaged, or this user "
        "may not read it. Looking never changes it; the next `appliance up` moves a damaged one aside and begins anew.",
        "Use the user that runs the appliance, or start the appliance.",
    ),
    Code(
        "AP0907",
        "nothing to go back to",
        "A rollback without a number goes to the last state that was applied before the running one and had another "
        "text; there is none.",
        "Name a revision that `appliance history` lists.",
    ),
    Code(
        "AP0908",
        "the state folder's path is too long for a socket",
        "The admin channel is a unix socket in the state folder, and this system limits the length of its path.",
        "Name a folder with a shorter path: `--state-dir FOLDER`.",
    ),
)

CODES = {page.code: page for page in _PAGES}
