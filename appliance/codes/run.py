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
        "The state folder cannot be created or written by this user.",
        "Change its permissions, or name another folder with `--state-dir`.",
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
        "AP0607",
        "a changed profile is not applied while running",
        "SIGHUP reads and validates the profile again; this release does not yet swap it in under load.",
        "Restart `appliance up` to apply the change.",
    ),
)

CODES = {page.code: page for page in _PAGES}
