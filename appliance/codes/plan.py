"""Codes of the planner: what does not fit, and what this machine or this release does not have."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0401",
        "the model does not fit",
        "Weights, the processes and the work space of one step leave no room for a KV cache. The budget is "
        "`hardware.memory_fraction` of the memory that this process may use (a container's limit counts), "
        "or less where other processes leave less free now. Nothing has been started.",
        "Free memory, raise `hardware.memory_fraction`, or take a smaller model, or `model.dtype: bfloat16` "
        "where it is float32. `appliance plan FILE --hardware NAME` shows where it would fit.",
    ),
    Code(
        "AP0402",
        "the context does not fit",
        "One sequence of `model.max_context` tokens needs more KV cache than memory has left. The message "
        "names the largest context that fits.",
        "Write that number, or `auto`, which takes the largest by itself; or a `kv_cache.dtype` with fewer bytes.",
        "```yaml\nmodel:\n  max_context: 131072   # refused\n  max_context: auto     # the largest that fits\n```",
    ),
    Code(
        "AP0403",
        "the KV cache is larger than what is left",
        "`kv_cache.size` asks for more than weights and work space leave of the budget.",
        "Write what the message names as fitting, or `auto`.",
    ),
    Code(
        "AP0404",
        "the KV cache holds less than one sequence",
        "A request of `model.max_context` tokens could never be finished with a pool of `kv_cache.size`.",
        "Raise `kv_cache.size`, lower `model.max_context`, or write `auto` for one of them.",
    ),
    Code(
        "AP0405",
        "the KV format cannot be used",
        "The format does not exist in this release, not on this platform, or cannot hold the model's heads.",
        "Choose one of the formats that the message lists; `auto` takes the model's own dtype.",
    ),
    Code(
        "AP0406",
        "the weights cannot stay as they are",
        "Keeping quantised weights quantised in memory is not part of this release: they are widened to "
        "`model.dtype` when they are loaded.",
        "Write `model.weights: auto`.",
    ),
    Code(
        "AP0407",
        "the device is not there",
        "`hardware.platform`, `hardware.devices` or `parallelism` ask for devices that this machine does not "
        "have, or that the native engine of this release does not compute on.",
        "Write `auto`, or plan for another machine: `appliance plan FILE --hardware h100x8`.",
    ),
    Code(
        "AP0408",
        "one step is too small",
        "`engine.batching.max_tokens` is less than one token for each of `max_sequences`, or, without chunked "
        "prefill, less than a prompt may have.",
        "Raise `engine.batching.max_tokens`, or lower `max_sequences`, or leave either at `auto`.",
    ),
    Code(
        "AP0409",
        "the context is beyond the model's",
        "The model has no positions past its own context length; answers past it would be noise.",
        "Write the model's own length or less, or `auto`.",
    ),
    Code(
        "AP0410",
        "the checkpoint cannot be used",
        "A file of the model or of an adapter is missing, damaged, or describes an architecture that the native engine "
        "does not have. Sizes and offsets in its headers are compared with the files before anything boots.",
        "Fetch it again, or name another one; for a model the message lists the architectures.",
    ),
    Code(
        "AP0411",
        "the machine is not known",
        "`--hardware` takes `auto` for this machine, a name from the catalogue, or a file with a saved snapshot; "
        "`--save-hardware` takes a file to write one to.",
        "Choose one of the names that the message lists, or another file.",
    ),
)

CODES = {page.code: page for page in _PAGES}
