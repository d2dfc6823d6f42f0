"""Codes of `appliance render`: what a target cannot take, and what the operator still has to provide."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0801",
        "open to a network without a key",
        "Where other machines or other pods reach the rendered server, anybody there can use it: the profile has no "
        "`security.api_keys`.",
        "Name a key by reference; it is rendered as a reference, too.",
        "```yaml\nsecurity:\n  api_keys:\n    - env: APPLIANCE_KEY\n```",
    ),
    Code(
        "AP0802",
        "the model has to be provided",
        "`model.source` is a folder or file. It is not part of an image; the rendered text mounts the place where the "
        "profile looks for it, and what stands there is up to you.",
        "Provide the volume that the message names, or use a `hf:` or `pypi:` source, fetched at the first start.",
    ),
    Code(
        "AP0803",
        "a name was derived",
        "Objects of a cluster are called by DNS labels: lower-case letters, digits and dashes, a letter first, 63 "
        "characters with what is added. The profile's `name` is none, so one was derived from it, always the same.",
        "Nothing has to be done. Rename the profile where one name for both is wanted.",
    ),
    Code(
        "AP0804",
        "a path means something else there",
        "A relative path starts at the profile's folder and `~` at a user's home. In a container or under a unit both "
        "are other places, and some folders are needed by the container itself.",
        "Write an absolute path that is right there, such as `/models/NAME` or `/etc/appliance-keys/NAME`. A chat "
        "template may stand beside the profile: it travels with it.",
    ),
    Code(
        "AP0805",
        "planned for this machine",
        "Memory, cores and the startup budget come from the plan, and without `--hardware` the plan is made for the "
        "machine that renders, as if nothing else ran on it.",
        "Name what one copy shall have: `--hardware cpu-4c-16g`, or a snapshot saved on the target with "
        "`appliance plan FILE --save-hardware`.",
    ),
    Code(
        "AP0806",
        "the target has nothing like it",
        "An option or a field asks for what this kind of text cannot express, or its value has no legal form.",
        "Do what the message says, or render another kind.",
    ),
    Code(
        "AP0807",
        "variables have to be set",
        "The profile refers to environment variables without a default. Their values are never rendered: they are "
        "taken over by name, from a ConfigMap, the shell, or an environment file.",
        "Set them where the rendered text names them.",
    ),
    Code(
        "AP0808",
        "keys are taken by reference",
        "API keys stand in a Secret, in files, or in variables; rendered is only where.",
        "Create what the message names before the first start.",
    ),
    Code(
        "AP0809",
        "the image lacks vLLM",
        "`engine.backend: vllm` starts vLLM's own command inside the container, and the images of `deploy/` hold only "
        "the appliance.",
        "Build an image on top of one of them with vLLM (and Ray, for several machines), and name it with `--image`.",
    ),
    Code(
        "AP0810",
        "a key file that the unit's user cannot read",
        "The unit runs as a user that exists only while it runs. systemd reads the key as root and lays a copy for "
        "that user into `/run/credentials/UNIT`.",
        "Name the copy in the profile; the unit then takes it from a file of that name in `/etc/appliance/keys`.",
        "```yaml\nsecurity:\n  api_keys:\n    - file: /run/credentials/triage.service/main\n```",
    ),
    Code(
        "AP0811",
        "a remark of the plan",
        "What `appliance plan` remarks for the machine that was named: that it is a forecast for devices which this "
        "release's own engine does not compute on yet, for instance.",
        "`appliance plan FILE --hardware NAME` shows the whole plan.",
    ),
    Code(
        "AP0812",
        "a vLLM command of a profile without vLLM",
        "`render vllm` writes how vLLM is started, and this profile runs the appliance's own engine.",
        "Write `engine.backend: vllm`, or render another kind.",
    ),
    Code(
        "AP0813",
        "a machine that does not exist",
        "`--node-rank` counts the machines of `parallelism.nodes` from 0; the first one is what `appliance up` starts.",
        "Name one of them.",
    ),
    Code(
        "AP0814",
        "a cache that is smaller inside the limit",
        "The memory limit holds what the plan takes. Inside it the appliance plans anew, and `kv_cache.size: auto` on "
        "a CPU takes at most a quarter of the memory it finds, so it comes out smaller than on the machine named.",
        "Write `kv_cache.size`, or live with the smaller cache; `engine.batching.max_sequences` and "
        "`model.max_context` say how much one is needed.",
        "kv_cache:\n  size: 90000 tokens",
    ),
)

CODES = {page.code: page for page in _PAGES}
