"""Codes of the first tier: is this one readable YAML text?"""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0001",
        "the file cannot be read",
        "It does not exist, is a folder, or this user may not read it.",
        "Correct the path or the permissions.",
    ),
    Code(
        "AP0002",
        "not UTF-8",
        "Profiles are UTF-8 text. The position is that of the first byte that is not.",
        "Save the file as UTF-8. Editors of Windows sometimes write UTF-16 or a local code page.",
    ),
    Code(
        "AP0003",
        "too large",
        "A profile is a page of text; a file of more than 1 MiB is something else, and is not read.",
        "Check that the right file is named.",
    ),
    Code(
        "AP0004",
        "not YAML",
        "The text breaks the rules of YAML here, so nothing after it can be trusted. Often the mistake is on "
        "the line before: a quote or bracket that is not closed, a missing colon, a wrong indentation.",
        "Repair the line. A value that holds `: `, ` #` or begins with `@`, `%`, `*`, `&`, `[` or `{` goes in quotes.",
        'note: see: below      # wrong\nnote: "see: below"    # right',
    ),
    Code(
        "AP0005",
        "a tab in the indentation",
        "YAML indents with spaces only; how wide a tab is would be a guess.",
        "Let the editor write spaces for tabs in YAML files.",
    ),
    Code(
        "AP0006",
        "a control character",
        "The text holds an invisible character that YAML does not allow; it often comes with copied text.",
        "Remove it, or type the line again.",
    ),
    Code(
        "AP0007",
        "an empty file",
        "There is nothing in the file, or only comments.",
        "Begin from `profiles/quickstart.yaml`.",
    ),
    Code(
        "AP0008",
        "several documents",
        "A line `---` begins a second YAML document. One file is one profile.",
        "Put each profile in a file of its own.",
    ),
    Code(
        "AP0009",
        "a key twice",
        "The same key stands twice in one mapping. Most readers take the last one in silence; here neither is taken.",
        "Keep one of the two.",
        "kv_cache: {block_tokens: 16, block_tokens: 32}",
    ),
    Code(
        "AP0010",
        "a tag",
        "Tags such as `!!python/object` or `!env` mean nothing in a profile, and in other programs they can run code.",
        "Remove the tag. An environment variable is written `${NAME}`, a secret `{env: NAME}`.",
    ),
    Code(
        "AP0011",
        "a key that is no plain text",
        "Keys are plain text, and `<<` merges mappings only.",
        "Write the key as one word; write `<<: *anchor` of a mapping.",
    ),
    Code(
        "AP0012",
        "nested too deep",
        "The text is nested deeper than 64 levels. A profile needs five; such a text is a mistake or an attack.",
        "Check the brackets and the indentation.",
    ),
    Code(
        "AP0013",
        "an alias that leads nowhere or explodes",
        "`*name` repeats the value marked `&name` before it. This one has no anchor, stands inside its own anchor, or "
        "the aliases multiply to more than 20,000 values (the attack called billion laughs).",
        "Define the anchor above, or write the values out.",
    ),
    Code(
        "AP0014",
        "a yes/no word",
        "`yes`, `no`, `on`, `off`, `y` and `n` are booleans to YAML 1.1 readers and words to YAML 1.2 readers, so the "
        "same file would mean two things. Only the switches of `endpoints` take `on` and `off`, as words.",
        "Write `true` or `false`, or put the word in quotes.",
        "kv_cache: {prefix_caching: no}       # wrong\nkv_cache: {prefix_caching: false}    # right",
    ),
    Code(
        "AP0015",
        "a quoted boolean",
        'The field is true or false, and `"false"` is a word of five letters: many programs take it for true.',
        "Write it without quotes.",
    ),
    Code(
        "AP0016",
        "a number that reads in two ways",
        "YAML 1.1 takes `010` for eight and `1_000` for a thousand, YAML 1.2 for ten and for a word.",
        "Write plain digits, or quotes where it is a word.",
    ),
    Code(
        "AP0017",
        "a reference without a value",
        "`${NAME}` is replaced by an environment variable, `${NAME:-default}` by the default where the variable is "
        "unset or empty. This one is not set, or is not of these forms. Values of variables are never printed.",
        "Set the variable, give a default, or write `$${` where `${` itself is meant.",
        "name: ${APPLIANCE_NAME:-triage}",
    ),
    Code(
        "AP0018",
        "not a profile",
        "Nothing at the top of the file belongs to a profile: there is no `schema:` key. It may be a compose file, a "
        "Kubernetes manifest or the options of another server.",
        "Name the profile, or write one: `profiles/quickstart.yaml` is a beginning.",
    ),
)

CODES = {page.code: page for page in _PAGES}
