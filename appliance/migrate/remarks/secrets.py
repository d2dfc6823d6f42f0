"""Where a secret should stand instead, in the words of the file's own format."""

from dataclasses import replace

from appliance.migrations.canonical import Kind
from appliance.migrations.change import Change

_CODES = ("VM0021", "VM0030")
_MANIFESTS = frozenset({"kubernetes", "kserve", "kubeai", "kaito", "aibrix", "dynamo", "vllm-runtime", "llm-d"})
_ENGINE = "the engine reads VLLM_API_KEY itself"
_ENV_FIRST = {
    "compose": f"delete the option and write VLLM_API_KEY: ${{VLLM_API_KEY:?}} below environment ({_ENGINE})",
    "shell": f"delete the option and export VLLM_API_KEY from a file that only the server may read ({_ENGINE})",
    "makefile": f"delete the option and export VLLM_API_KEY from outside ({_ENGINE})",
    "dockerfile": f"delete the option and start with --env-file or -e VLLM_API_KEY ({_ENGINE})",
    "systemd": f"delete the option and put VLLM_API_KEY into an EnvironmentFile of mode 0600 ({_ENGINE})",
    "vllm-config": f"delete the key and set VLLM_API_KEY in the environment ({_ENGINE})",
}
_VALUES = {
    "compose": "write {name}: ${{{name}:?}} and keep the value in a file of mode 0600 outside of version control",
    "shell": 'read it: export {name}="$(cat /run/secrets/{name})"',
    "makefile": "export {name} from outside",
    "dockerfile": "an image keeps it for ever: hand {name} in with --env-file or -e at start",
    "systemd": "put {name} into an EnvironmentFile of mode 0600",
    "dotenv": "keep this file out of version control, with mode 0600",
    "production-stack": "name a Secret: {raw}: {{secretName: NAME, secretKey: KEY}}",
    "skypilot": "write {name}: null and start with `sky launch --secret {name}`",
    "dstack": "write {name}=${{{{ secrets.{name} }}}}",
}


def advised(change: Change, dialect: str) -> Change:
    """A remark about a secret says where the secret goes; every other change stays as it is."""
    if change.code not in _CODES or change.site is None:
        return change
    name = "VLLM_API_KEY" if change.site.name == "api-key" else change.site.name.upper().replace("-", "_")
    if dialect in _MANIFESTS:
        # the hub's own name for its token; the longer one is read for old times' sake
        shown_name = "HF_TOKEN" if name == "HUGGING_FACE_HUB_TOKEN" else name
        fix = f"move it into a Secret: env {shown_name} with valueFrom.secretKeyRef"
        fix += f", and delete the option ({_ENGINE})" if change.site.name == "api-key" else ""
    elif change.site.kind is Kind.OPTION and change.site.name == "api-key" and dialect in _ENV_FIRST:
        fix = _ENV_FIRST[dialect]
    elif dialect in _VALUES:
        fix = _VALUES[dialect].format(name=name, raw=change.site.raw_name)
    else:
        return change
    shown = change.code == "VM0021" and dialect != "dotenv"
    return replace(change, way_out=fix + ("; then change it, since it stood here" if shown else ""))
