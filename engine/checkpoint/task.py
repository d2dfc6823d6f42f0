"""What a checkpoint is for, also where the engine cannot run it: generating text, embedding, classifying ..."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .errors import CheckpointError
from .fields import Fields, read_json
from .gguf_config import ARCHITECTURES as GGUF_ARCHITECTURES
from .gguf_config import is_embedding
from .gguf_header import read_gguf
from .hf_config import BORDERS, architectures

Task = Literal["generate", "embed", "classify", "transcribe", "unknown"]

# By ending of a Hugging Face class name; the first that fits wins.
ENDINGS: dict[str, Task] = {
    "ForCausalLM": "generate",
    "LMHeadModel": "generate",
    "WhisperForConditionalGeneration": "transcribe",
    "ForSpeechSeq2Seq": "transcribe",
    "ForCTC": "transcribe",
    "ForConditionalGeneration": "generate",
    "ForSequenceClassification": "classify",
    "ForTokenClassification": "classify",
    "RewardModel": "classify",
    "ForMaskedLM": "embed",
    "ForTextEncoding": "embed",
    "Model": "embed",
}
GGUF_ENCODERS = (
    "bert",
    "nomic-bert",
    "nomic-bert-moe",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "gemma-embedding",
)


@dataclass(frozen=True)
class Architecture:
    """`name` as the file gives it; `supported` = the native engine has it."""

    name: str
    task: Task
    supported: bool


def architecture(path: str) -> Architecture:
    """Of a folder with config.json or a .gguf file; CheckpointError where neither can be read."""
    place = Path(path)
    if is_gguf(place):
        header = read_gguf(place)
        name = str(header.metadata.get("general.architecture", ""))
        return Architecture(
            name, "embed" if name in GGUF_ENCODERS or is_embedding(header) else "generate", name in GGUF_ARCHITECTURES
        )
    check_folder(place)
    fields = Fields(str(place / "config.json"), read_json(place / "config.json"))
    names = architectures(fields)
    name = next((name for name in names if name in BORDERS), names[0] if names else "")
    task: Task = next((task for ending, task in ENDINGS.items() if name.endswith(ending)), "unknown")
    if task == "generate" and _pools(place):
        task = "embed"
    return Architecture(name, task, name in BORDERS)


def is_gguf(path: Path) -> bool:
    return path.suffix == ".gguf" or (path.is_file() and path.name != "config.json")


def check_folder(path: Path) -> None:
    if not path.exists():
        raise CheckpointError(str(path), "does not exist", "name a folder with config.json, or a .gguf file")
    if not (path / "config.json").exists():
        raise CheckpointError(str(path), "has no config.json", "name a folder with config.json, or a .gguf file")


def _pools(folder: Path) -> bool:
    """A sentence-transformers module list with a pooling module marks a decoder that embeds."""
    try:
        return ".Pooling" in (folder / "modules.json").read_text()
    except (OSError, ValueError):
        return False
