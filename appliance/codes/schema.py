"""Codes of the second tier: does every key exist and hold a value of its kind?"""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0101",
        "an unknown key",
        "A profile holds known keys only. A mistyped key that is ignored is a setting that silently does nothing.",
        "Take the suggestion, or look the section up: `appliance explain kv_cache`. Options of other engines have "
        "other names here; the suggestion knows them.",
        "kv_cache: {max_model_len: 4096}    # wrong\nmodel: {max_context: 4096}         # right",
    ),
    Code(
        "AP0102",
        "a missing key",
        "`schema`, `name`, `release` and `model.source` have no default, nor have the keys of some optional sections.",
        "Add the key.",
    ),
    Code(
        "AP0103",
        "a value of another kind",
        'The field wants a number, text, a list or a mapping, and something else stands there. `"8"` is text and 8 a '
        "number; nothing is converted in silence.",
        "Write what the message names. Sizes have a unit (`4GiB`), durations too (`30s`), releases are quoted.",
        'release: 0.32      # wrong: a number\nrelease: "0.32"    # right',
    ),
    Code(
        "AP0104",
        "an unknown word",
        "The field knows a few words, and this is none of them.",
        "Take the suggestion, or one of the words that `appliance explain FIELD` lists.",
        "kv_cache: {dtype: bfloat61}  # wrong\nkv_cache: {dtype: bfloat16}  # right",
    ),
    Code(
        "AP0105",
        "out of range",
        "The number is below the least or above the greatest value the field can have, or a text or list is empty.",
        "Write a value within the bounds; `appliance explain FIELD` gives them.",
    ),
    Code(
        "AP0106",
        "of the wrong form",
        "The text has a fixed form: a name, a release, a hash.",
        "Write it in the form the message names.",
    ),
    Code(
        "AP0107",
        "a secret in the profile",
        "A profile is kept in git and shown to colleagues, so keys never stand in it; they are named. An empty key "
        "would let everybody in. The value is not repeated in any message.",
        "Write `{env: NAME}` for an environment variable or `{file: PATH}` for a file whose first line is the key. A "
        "key that was committed is known: replace it.",
        "api_keys: [sk-...]                   # wrong\napi_keys: [{env: APPLIANCE_KEY}]     # right",
    ),
)

CODES = {page.code: page for page in _PAGES}
