"""A Hugging Face folder: tokenizer.json is the truth; tokenizer_config.json and its companions describe it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import tokenizers
from tokenizers import AddedToken

from .description import Description
from .errors import TokenizerError

SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
CONFIG = "tokenizer_config.json"
OTHER_FORMATS = ("tokenizer.model", "vocab.json", "tekken.json", "vocab.txt")


class Added(msgspec.Struct):
    content: str
    special: bool = False
    normalized: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False


class NamedTemplate(msgspec.Struct):
    name: str
    template: str


def load_folder(folder: Path) -> tuple[tokenizers.Tokenizer, Description]:
    path = folder / "tokenizer.json"
    if not path.is_file():
        found = [name for name in OTHER_FORMATS if (folder / name).exists()]
        seen = f"there is only {', '.join(found)}" if found else "there is no tokenizer"
        raise TokenizerError(str(folder), f"{seen}; tokenizer.json is needed", "save the tokenizer as tokenizer.json")
    try:
        backend = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception for every damage
        raise TokenizerError(str(path), f"cannot be read: {error}", "fetch the file again") from None
    backend.no_truncation()
    backend.no_padding()
    config = _read_json(folder / CONFIG)
    special = {**_read_json(folder / "special_tokens_map.json"), **config}
    _add_missing(backend, folder, config)
    tokens: dict[str, str | list[str]] = {name: text for name in SPECIAL if (text := _text(special.get(name)))}
    extra = special.get("additional_special_tokens") or special.get("extra_special_tokens")
    if isinstance(extra, list) and extra:
        tokens["additional_special_tokens"] = [text for token in extra if (text := _text(token))]
    elif isinstance(extra, dict):
        tokens |= {name: text for name, token in extra.items() if (text := _text(token))}
    return backend, Description(tokens, _eos_tokens(folder, backend, tokens), _chat_templates(folder, config))


def _add_missing(backend: tokenizers.Tokenizer, folder: Path, config: dict[str, Any]) -> None:
    """Added tokens that only tokenizer_config.json lists, by id so that the library numbers them alike."""
    listed = _shaped(folder, config, "added_tokens_decoder", dict[int, Added] | None) or {}
    known = backend.get_added_tokens_decoder()
    missing = [
        AddedToken(
            token.content,
            special=token.special,
            normalized=token.normalized,
            single_word=token.single_word,
            lstrip=token.lstrip,
            rstrip=token.rstrip,
        )
        for token_id, token in sorted(listed.items())
        if token_id not in known
    ]
    if missing:
        backend.add_tokens(missing)


def _eos_tokens(folder: Path, backend: tokenizers.Tokenizer, tokens: dict[str, Any]) -> tuple[str, ...]:
    found = [tokens["eos_token"]] if "eos_token" in tokens else []
    for name in ("generation_config.json", "config.json"):
        ids = _read_json(folder / name).get("eos_token_id")
        if ids is not None:
            listed = ids if isinstance(ids, list) else [ids]
            found += [text for i in listed if isinstance(i, int) and i >= 0 and (text := backend.id_to_token(i))]
            break
    return tuple(dict.fromkeys(found))


def _chat_templates(folder: Path, config: dict[str, Any]) -> dict[str, str]:
    templates: dict[str, str] = {}
    listed = _shaped(folder, config, "chat_template", str | list[NamedTemplate] | dict[str, str] | None)
    match listed:
        case str():
            templates["default"] = listed
        case list():
            templates |= {entry.name: entry.template for entry in listed}
        case dict():
            templates |= listed
    templates |= {
        path.stem: _read_text(path) for path in sorted((folder / "additional_chat_templates").glob("*.jinja"))
    }
    own = folder / "chat_template.jinja"
    if own.exists():
        templates["default"] = _read_text(own)
    return templates


def _shaped(folder: Path, config: dict[str, Any], key: str, kind: Any) -> Any:
    try:
        return msgspec.convert(config.get(key), kind, strict=False)
    except msgspec.ValidationError as error:
        raise TokenizerError(str(folder / CONFIG), f"{key}: {error}", "fetch the file again") from None


def _text(token: Any) -> str | None:
    """A special token is written as text or as an object with its content."""
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) and token else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(str(path), f"cannot be read: {error}", "fetch the file again") from None


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise TokenizerError(str(path), f"is not valid JSON: {error}", "fetch the file again") from None
    if not isinstance(value, dict):
        raise TokenizerError(str(path), "must hold a JSON object", "fetch the file again")
    return value
