"""Section `engine`: how requests become batches, and which engine runs them."""

from typing import Annotated, Literal

from pydantic import Field

from .setting import Section, section, setting
from .types import AutoCount

OptionValue = bool | int | float | str | tuple[bool | int | float | str, ...]


class Batching(Section):
    max_sequences: AutoCount = setting(
        "auto",
        description="Most requests that run at the same time; later ones wait.",
        unit="sequences",
        reload="reconfigure",
        option="max-num-seqs",
    )
    max_tokens: AutoCount = setting(
        "auto",
        description="Most tokens computed in one step: running requests first, then pieces of prompts.",
        unit="tokens",
        reload="reconfigure",
        option="max-num-batched-tokens",
    )
    chunked_prefill: bool = setting(
        True,
        description="Compute long prompts in pieces between the steps of running requests.",
        reload="reconfigure",
        option="enable-chunked-prefill",
    )


class Speculation(Section):
    method: Literal["none", "ngram"] = setting(
        "none",
        description="How tokens are guessed ahead; ngram looks for the last tokens earlier in the text.",
        reload="engine",
        option="speculative-config",
    )
    max_tokens: Annotated[int, Field(ge=1)] | None = setting(
        None, description="Most tokens guessed per step.", unit="tokens", reload="engine"
    )
    lookup_min: Annotated[int, Field(ge=1)] | None = setting(
        None, description="Fewest last tokens that must match.", unit="tokens", reload="engine"
    )
    lookup_max: Annotated[int, Field(ge=1)] | None = setting(
        None, description="Most last tokens that are compared.", unit="tokens", reload="engine"
    )


class VLLM(Section):
    command: tuple[str, ...] = setting(
        ("vllm",), description="Command that starts vLLM, word by word.", reload="engine", min_length=1
    )
    options: dict[str, OptionValue] = setting(
        {},
        description="Options of `vllm serve` that the profile has no field for.",
        reload="engine",
        form="a value, or a list of values",
    )


class Engine(Section):
    backend: Literal["native", "vllm"] = setting(
        "native", description="The appliance's own engine, or vLLM processes behind the same server.", reload="engine"
    )
    batching: Batching = section(Batching, description="How many requests and tokens one step takes.")
    speculation: Speculation = section(Speculation, description="Guessing tokens ahead.")
    vllm: VLLM = section(VLLM, description="Only for backend vllm.")
