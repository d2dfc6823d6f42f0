"""What one `vllm serve` is started with. Built by the planner; no profile behind this line, and no secret in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Proof = Literal["completion", "embedding", "classification", "transcription", "health"]
UNIX = "unix:"


@dataclass(frozen=True)
class VllmConfig:
    """Sent to the child as JSON on standard input."""

    command: tuple[str, ...]
    """What starts vLLM, word by word."""
    arguments: tuple[str, ...]
    """Behind `serve`: the model, then every option but the address."""
    served_names: tuple[str, ...]
    proof: Proof
    """What a freshly booted vLLM is asked for before it counts as ready."""
    boot_seconds: float
    """The planner's estimate, with the model in the page cache."""
    boot_limit: float
    """Seconds after which a vLLM that is not ready counts as hanging."""
    environment: dict[str, str] = field(default_factory=dict)
    """Added to the appliance's own."""
    replicas: tuple[dict[str, str], ...] = ({},)
    """One per data-parallel replica: what only its environment has (its devices, its cores)."""
    withheld: tuple[str, ...] = ()
    """Variables of the appliance's environment that vLLM does not get: API keys, which only our server checks."""
    address: str = "unix:vllm.sock"
    """Where it answers HTTP."""
    generation: int = 1

    @property
    def socket(self) -> str:
        """Path of its unix socket."""
        return self.address.removeprefix(UNIX)

    def argv(self) -> list[str]:
        return [*self.command, "serve", *self.arguments, "--uds", self.socket]

    def child_environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in inherited.items() if name not in self.withheld} | self.environment
