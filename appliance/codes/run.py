"""Codes of `appliance up`: sockets, the state folder, child processes."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0601",
        "the address cannot be bound",
        "`security.bind` (or `--bind`) names an address that another process listens on, that this machine does "
        "not have, or "
        "that this user may not use. It is bound before anything boots.",
        "Stop the other process, or choose another address: `appliance up FILE --bind 127.0.0.1:8001`. Port 0 "
        "takes any free one.",
    ),
    Code(
        "AP0602",
        "the state folder is in use",
        "Another `appliance up` runs with this state folder. One folder belongs to one running appliance.",
        "Stop the other one, give this profile another `name`, or name another folder with `--state-dir`.",
    ),
    Code(
        "AP0603",
        "the state folder cannot be used",
        "The state folder cannot be created or written by this user, or it was removed under a running appliance: that "
        "one serves on, but takes no edit, since its processes cannot be reached anew.",
        "Change its permissions, or name another folder with `--state-dir`. Where it was removed, start the appliance "
        "again when it may pause.",
    ),
    Code(
        "AP0604",
        "a process cannot start",
        "The engine or the server refused to start and said why; starting it again would not change that.",
        "Do what the message says, then start again.",
    ),
    Code(
        "AP0605",
        "a process dies again and again",
        "The engine or a server died so often within a short time that restarting it serves nobody. The last "
        "lines that it "
        "wrote stand above this message.",
        "Read those lines. A process killed by signal 9 often ran out of memory: lower `kv_cache.size` or "
        "`model.max_context`.",
    ),
    Code(
        "AP0606",
        "a required endpoint cannot be served",
        "`endpoints` says `required`, and the model that booted cannot serve it. The appliance stays not ready: "
        "`/ready` "
        "answers 503 with this reason, so that no balancer sends requests to half an appliance.",
        "Choose a model that can, or set the endpoint to `auto`, `on` or `off`.",
    ),
    Code(
        "AP0608",
        "no room for two generations",
        "`reload.strategy: surge` boots the new engine beside the one that serves. The planner's figures, or the "
        "memory that is free now, leave no room for both.",
        "Write `auto` or `drain`: requests then wait while the engine is replaced, and none is lost. Or lower "
        "`kv_cache.size`.",
    ),
    Code(
        "AP0609",
        "a new state did not come to serve",
        "The text is valid and fits, but its engine did not boot, or a server could not prove that it answers real "
        "requests with it. The state that ran before serves on; nothing was lost.",
        "Read what the message quotes, correct the profile and save it again. `appliance history` keeps the attempt.",
    ),
    Code(
        "AP0610",
        "a new state failed soon after it began to serve",
        "An engine of the new generation died within its settle time, so the state that ran before was put back.",
        "Read the engine's last lines. A process killed by signal 9 often ran out of memory.",
    ),
    Code(
        "AP0611",
        "neither the new state nor the old one serves",
        "A reload failed, and the generation that ran before did not boot again either. The appliance ends, so that "
        "whoever supervises it notices.",
        "Read the messages of both attempts, then start again: the last good revision is booted where the file's text "
        "does not come up.",
    ),
    Code(
        "AP0612",
        "the last good revision runs instead of the file",
        "At start the file's text could not run, and the state folder holds a revision that did. That one was booted; "
        "`appliance status` says degraded.",
        "Correct the file and save it. `appliance diff running file` shows what differs.",
    ),
    Code(
        "AP0613",
        "a text that was rolled back from",
        "The file still holds the text that `appliance rollback` left. It is not tried again until it changes, "
        "or `appliance reload` asks for it.",
        "Change the file, or ask for it by name: `appliance reload`.",
    ),
    Code(
        "AP0614",
        "a text that brings out a defect",
        "While a proposed text was looked at, the appliance met an error of its own. Nothing was changed; the state "
        "that ran before runs on.",
        "Report it, with the lines that stand above the message. Another text may avoid it.",
    ),
)

CODES = {page.code: page for page in _PAGES}
