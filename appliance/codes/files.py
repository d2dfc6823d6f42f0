"""Codes about whole files of other programs; those about their options stand beside the rules."""

from ..diagnostics import Code

_PAGES = (
    Code(
        "VM0101",
        "no text to read",
        "The file is missing, may not be read, is no regular file, is binary, or is larger than 32 MiB.",
        "Name a text file that you may read. UTF-8, UTF-16 with a byte order mark and older one-byte encodings are "
        "kept byte for byte.",
    ),
    Code(
        "VM0102",
        "broken text",
        "The file is of a kind that the appliance reads, but its text has an error, so no option in it can be trusted "
        "to be one.",
        "Repair the line that the message names. If the file is of another kind, say so with `--dialect`.",
    ),
    Code(
        "VM0104",
        "image of another release",
        "The image tag, pin or release key names another engine release than the one the options are now written for. "
        "Both have to change together, or the engine meets options that it does not know.",
        "Change the tag or pin in the same commit; `--to RELEASE` writes the options for the one that you stay with.",
        "image: vllm/vllm-openai:v0.6.3    # and options of 0.32\nimage: vllm/vllm-openai:v0.32.0",
    ),
    Code(
        "VM0105",
        "image without a release",
        "The tag moves, so the next pull may bring a release that refuses options which work today.",
        "Pin a release.",
        "image: vllm/vllm-openai:latest\nimage: vllm/vllm-openai:v0.32.0",
    ),
    Code(
        "VM0106",
        "memory claimed twice",
        "Each server takes its share of a device's whole memory, 0.92 where nothing is written. The shares of the "
        "servers in this file add up to more than one device has.",
        "Give each a share with `--gpu-memory-utilization`, or different devices with `CUDA_VISIBLE_DEVICES`.",
        "vllm serve a & vllm serve b\n"
        "vllm serve a --gpu-memory-utilization 0.45 & vllm serve b --gpu-memory-utilization 0.45",
    ),
    Code(
        "VM0107",
        "not written",
        "The new text could not take the old one's place: the file or its folder is read-only, it belongs to somebody "
        "else, or somebody changed it after it was read. The file is as it was.",
        "Do what the message says, then run the command again.",
    ),
    Code(
        "VM0109",
        "the profile's release",
        "A profile says which release its fields are written for, so this key changes with them.",
        "Nothing; `appliance migrate --write` sets it.",
        'release: "0.31"\nrelease: "0.32"',
    ),
    Code(
        "VM0110",
        "a value that is filled in later",
        "A template, a variable or another file fills the value in, so it cannot be checked here.",
        "Compare what is filled in with the codes that the message names, and look at the files that it names.",
    ),
    Code(
        "VM0111",
        "ready too early",
        "An open port, or a minute gone by, does not mean a model that answers: loading takes long, and requests that "
        "arrive before are refused.",
        "Use httpGet on /health for readinessProbe, and a startupProbe with enough time to load.",
        "readinessProbe: {tcpSocket: {port: 8000}}\nreadinessProbe: {httpGet: {path: /health, port: 8000}}",
    ),
    Code(
        "VM0112",
        "TPU",
        "vLLM runs on TPUs with a plugin, which follows releases of its own.",
        "Check that the plugin supports the release you target.",
    ),
    Code(
        "VM0113",
        "restarts without end",
        "A unit that restarts after every failure starts the engine again and again when an option is refused, and the "
        "reason scrolls away.",
        "Let `appliance validate` stand in ExecStartPre: a refused option then stops the unit with one line.",
        "ExecStartPre=appliance validate --offline /etc/systemd/system/chat.service",
    ),
    Code(
        "VM0114",
        "a file that is not here",
        "The option names a file that lies neither beside this one nor at that path on this machine. The engine does "
        "not start without it; templates of the engine's examples have moved between releases of its image.",
        "Check that the file is there where the engine runs: in the image, or in a volume.",
        "vllm serve m --chat-template /templates/chat.jinja",
    ),
    Code(
        "VM0115",
        "old options in a comment",
        "A comment holds options that the target release refuses. Nothing runs a comment, so it is left alone.",
        "Correct or delete it before somebody copies it.",
        "# vllm serve m --swap-space 4",
    ),
    Code(
        "VM0116",
        "architecture that is not served any more",
        "The engine dropped the model's architecture. It is known from the model's config.json where that lies here, "
        "and guessed from the model's name elsewhere.",
        "Install the plugin that brings it back, serve another model, or stay on the last release that had it.",
        "vllm serve meta-llama/Llama-3.2-11B-Vision-Instruct",
    ),
    Code(
        "VM0117",
        "what a chart makes of its values",
        "The chart's templates write this argument, so the version of the chart decides whether the target release "
        "takes it.",
        "Look at `helm template`, and update the chart together with the image.",
        "vllmConfig: {enableChunkedPrefill: false}",
    ),
    Code(
        "VM0118",
        "options as keyword arguments",
        "These keys are handed to the engine in Python, with underscores and real values. A command line writes the "
        "same with dashes, and mappings as JSON.",
        "Nothing while Python reads them; the message holds the command line for when you move to `vllm serve`.",
        "vllm_config: {max_model_len: 8192, limit_mm_per_prompt: {image: 5}}\n"
        "vllm serve m --max-model-len 8192 --limit-mm-per-prompt '{\"image\": 5}'",
    ),
    Code(
        "VM0119",
        "an option where nothing is read",
        "The text names an option that the target release does not take, at a place from which no options are read: in "
        "a shape of file that is not known here, or for another program of the same option.",
        "Look at it yourself; `appliance explain --OPTION` tells what became of it.",
    ),
    Code(
        "VM0108",
        "no equivalent in a profile",
        "The option has no field in a profile of the native backend.",
        "Leave it out, or keep it below `engine.vllm.options` for the backend that runs vLLM.",
    ),
)

CODES = {page.code: page for page in _PAGES}
