"""The fourth tier: the profile against the machine it is validated on. `--offline` leaves it out."""

from ..facts import Rule
from . import adapters, address, files, gitops, keys, model, vllm

MACHINE_RULES: tuple[Rule, ...] = (
    model.present,
    model.checkpoint,
    adapters.adapters,
    vllm.command,
    vllm.variables,
    files.named_files,
    files.template,
    keys.api_keys,
    gitops.credentials,
    gitops.known_hosts,
    address.free,
)
