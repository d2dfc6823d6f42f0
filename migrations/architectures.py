"""Model architectures that the engine served once and refuses now, and the names of the models that have them."""

import re
from dataclasses import dataclass

from appliance.migrations.release import Release, release


@dataclass(frozen=True, slots=True)
class Gone:
    """last: the last release that served it. named: what models of it are called, without case; "" where no name tells.

    plugin: a package that brings it back.
    """

    name: str
    last: Release
    named: str = ""
    plugin: str = ""


# _PREVIOUSLY_SUPPORTED_MODELS and _OOT_SUPPORTED_MODELS, model_executor/models/registry.py:799-861 in 0.32.0.
_LAST = {
    "0.9.2": {"Phi3SmallForCausalLM": r"phi-?3-small"},
    "0.10.2": {
        "MotifForCausalLM": r"\bmotif-",
        "Phi4FlashForCausalLM": r"phi-?4-mini-flash",
        "DonutForConditionalGeneration": r"\bdonut",
        "MllamaForConditionalGeneration": r"llama-?3\.2-(?:11b|90b)-vision",
    },
    "0.12.0": {"Phi4MultimodalForCausalLM": ""},
    "0.22.0": {"JAISLMHeadModel": r"\bjais-"},
    "0.23.0": {
        "ErnieModel": "",
        "ErnieForSequenceClassification": "",
        "ErnieForTokenClassification": "",
        "InternLM2VEForCausalLM": r"mono-?internvl",
        "QWenLMHeadModel": r"\bqwen-(?:1_8b|7b|14b|72b)",
        "QwenVLForConditionalGeneration": r"\bqwen-vl",
        "InternLMForCausalLM": r"\binternlm-(?:chat-)?(?:7b|20b)",
        "XverseForCausalLM": r"\bxverse-",
        "Dots1ForCausalLM": r"dots\.llm1",
        "BambaForCausalLM": r"\bbamba-",
        "MiniMaxForCausalLM": "",
        "MiniMaxText01ForCausalLM": r"minimax-text-01",
        "MiniMaxM1ForCausalLM": r"minimax-m1",
        "MiniMaxVL01ForConditionalGeneration": r"minimax-vl-01",
        "BaiChuanForCausalLM": r"baichuan-7b",
        "BaichuanForCausalLM": r"baichuan",
        "Tarsier2ForConditionalGeneration": r"tarsier2",
    },
    "0.24.0": {
        "AquilaModel": "",
        "AquilaForCausalLM": r"\baquila",
        "Grok1ModelForCausalLM": r"grok-1\b",
        "Grok1ForCausalLM": "",
        "TarsierForConditionalGeneration": r"tarsier-",
        "MantisForConditionalGeneration": r"mantis-\d",
        "MusicFlamingoForConditionalGeneration": r"music-flamingo",
        "AyaVisionForConditionalGeneration": r"aya-vision",
    },
    "0.25.0": {
        "TeleChatForCausalLM": r"telechat-\d",
        "PersimmonForCausalLM": r"persimmon",
        "FuyuForCausalLM": r"\bfuyu-",
    },
    "0.26.0": {"Plamo2ForCausalLM": r"plamo-2(?!\.)", "OuroForCausalLM": r"\bouro-"},
    "0.28.0": {
        "ArcticForCausalLM": r"snowflake-arctic-(?:base|instruct)",
        "ChameleonForConditionalGeneration": r"\bchameleon-",
        "Cheers": "",
        "CheersForConditionalGeneration": "",
        "Fairseq2LlamaForCausalLM": "",
        "FireRedLIDForConditionalGeneration": "",
        "GritLM": r"gritlm-",
        "HCXVisionForCausalLM": r"hyperclovax-seed-vision",
        "MPTForCausalLM": r"\bmpt-(?:7b|30b)",
        "MptForCausalLM": "",
        "RWForCausalLM": "",
        "StableLMEpochForCausalLM": "",
        "PrithviGeoSpatialMAE": "",
    },
}
_BART = "https://github.com/vllm-project/bart-plugin"
_PLUGINS = {
    "BartModel": "",
    "BartForConditionalGeneration": r"\bbart-(?:base|large)",
    "Florence2ForConditionalGeneration": r"florence-2",
    "MBartForConditionalGeneration": r"\bmbart-",
}

GONE: tuple[Gone, ...] = (
    *(Gone(name, release(last), named) for last, names in _LAST.items() for name, named in names.items()),
    *(Gone(name, release("0.10.2"), named, _BART) for name, named in _PLUGINS.items()),
)

_ANY = re.compile("|".join(one.named for one in GONE if one.named), re.IGNORECASE)


def gone(architecture: str, target: Release) -> Gone | None:
    return next((one for one in GONE if one.name == architecture and one.last < target), None)


def named(model: str, target: Release) -> Gone | None:
    """By the model's name, which is a good guess and no more."""
    if not _ANY.search(model):
        return None
    known = (one for one in GONE if one.named and one.last < target)
    return next((one for one in known if re.search(one.named, model, re.IGNORECASE)), None)
