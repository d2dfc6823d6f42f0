"""Codes of the third tier: do the fields fit each other and the model?"""

from ..diagnostics import Code

_PAGES = (
    Code(
        "AP0201",
        "a release this appliance does not serve",
        "`release` says for which engine semantics the profile was written. Between releases keys go, defaults change "
        "and words change their meaning, so an older profile is refused, never reinterpreted. From 0.31 to 0.32: CORS "
        "origins are empty by default, a `max_tokens` that does not fit shortens the output instead of failing "
        "(`limits.max_tokens.overflow`), mamba mode `all` and cascade attention are gone.",
        'Adapt the profile and write `release: "0.32"`.',
    ),
    Code(
        "AP0202",
        "a file from an index without its hash",
        "A package index may serve another file under the same name tomorrow. With `model.sha256` only the file that "
        "was meant is accepted.",
        "Write the hash as its publisher gives it.",
    ),
    Code(
        "AP0203",
        "a hash without a file",
        "`model.sha256` is the hash of one file; a folder or a repository has many.",
        "Remove it, or name a `.gguf` file; pin a hub's repository by its commit.",
    ),
    Code(
        "AP0204",
        "a served name that cannot be used",
        "Requests ask for the model by `model.served_names`; an empty, blank or repeated name serves nobody.",
        "Correct or remove it.",
    ),
    Code(
        "AP0205",
        "a context that the model cannot have",
        "The model was trained for positions up to a limit that its checkpoint names; beyond it the answers decay. "
        "A context of one token holds no prompt and answer.",
        "Write `auto` or at most that limit.",
    ),
    Code(
        "AP0206",
        "more than one CPU device",
        "`hardware.platform: cpu` is one device; its cores share the work without any setting.",
        "Write `devices: auto`.",
    ),
    Code(
        "AP0210",
        "a KV format this platform does not offer",
        "Each KV format names the platforms that can compute with it.",
        "Take one of the formats listed.",
    ),
    Code(
        "AP0211",
        "a block that does not fit the heads",
        "Packed KV formats need head sizes and blocks that divide evenly.",
        "Choose another `kv_cache.block_tokens` or `kv_cache.dtype`.",
    ),
    Code(
        "AP0212",
        "a KV cache smaller than one request",
        "`kv_cache.size` must hold at least one request of `model.max_context` tokens, else that request never runs.",
        "Enlarge the cache or shorten the context.",
    ),
    Code(
        "AP0213",
        "layers that skip nothing",
        "`kv_cache.skip_layers` keeps layers out of a smaller KV format, and the format is not a smaller one.",
        "Remove it, or choose a smaller `kv_cache.dtype`.",
    ),
    Code(
        "AP0220",
        "tensor parallelism that does not divide the heads",
        "Each device takes an equal share of the attention heads, and of the key-value heads where there are enough.",
        "Write one of the numbers listed.",
    ),
    Code(
        "AP0221",
        "too few devices",
        "`parallelism` spreads the engine over more devices than `hardware.devices` allows.",
        "Allow more devices, or spread less.",
    ),
    Code(
        "AP0222",
        "elastic without expert parallelism",
        "`elastic` changes the number of expert-parallel workers while serving.",
        "Set `parallelism.expert.enabled: true` too, or remove `elastic`.",
    ),
    Code(
        "AP0223",
        "machines that cannot run one engine together",
        "With `parallelism.nodes` above 1 vLLM's processes on several machines form one engine: the others find the "
        "first by `master-addr` (or a Ray cluster has them already), each holds an equal share of tensor x pipeline "
        "devices, and one appliance serves one such engine.",
        "Name the first machine, or let Ray do it; make the numbers come out even.",
        "engine: {backend: vllm, vllm: {options: {master-addr: 10.0.0.1}}}",
    ),
    Code(
        "AP0225",
        "steps that are too small",
        "One step computes a token of every running sequence, and without chunked prefill a whole prompt.",
        "Raise `engine.batching.max_tokens`, or lower what must fit in it.",
    ),
    Code(
        "AP0226",
        "speculation that contradicts itself",
        "`max_tokens`, `lookup_min` and `lookup_max` belong to a method, and the least is not above the most.",
        "Remove them, or set the method.",
    ),
    Code(
        "AP0227",
        "options of a backend that is not used",
        "`engine.vllm` is read with `engine.backend: vllm` only.",
        "Remove the section, or set the backend.",
    ),
    Code(
        "AP0228",
        "an option that the profile says elsewhere",
        "`engine.vllm.options` holds what the profile has no field for. An option that a field stands for, or that the "
        "appliance decides itself (where vLLM listens, its keys, its queue), would be said twice, and one of the two "
        "would lose in silence.",
        "Write the field that is named.",
    ),
    Code(
        "AP0229",
        "a model file that vLLM does not read",
        "vLLM loads folders and repositories with safetensors. GGUF files are read by the native engine.",
        "Name a folder or a repository, or use the native engine.",
    ),
    Code(
        "AP0230",
        "an endpoint the model cannot serve",
        "An embedding model generates no text, and a text generator has no embeddings. `required` makes that an error, "
        "because the appliance would never become ready; `on` would answer every call with 501.",
        "Set the endpoint to `off` or `auto`, or serve another model.",
    ),
    Code(
        "AP0231",
        "nothing is served",
        "Every endpoint that answers requests is off.",
        "Set one to `on`.",
    ),
    Code(
        "AP0232",
        "a default output without room for a prompt",
        "`limits.max_tokens.default` is used by requests that name no length; prompt and output share the context.",
        "Lower it, or raise `model.max_context`.",
    ),
    Code(
        "AP0233",
        "a queue shorter than one prompt",
        "`limits.queue.tokens` counts prompt tokens that wait. A prompt longer than that is turned away even when "
        "nothing else waits.",
        "Write at least `model.max_context`.",
    ),
    Code(
        "AP0240",
        "open to the network without a key",
        "The server listens on an address that other machines reach and asks for no API key: whoever reaches the port "
        "uses the model.",
        "Set `security.api_keys`, bind 127.0.0.1, or keep the port behind a proxy that asks who is there.",
        "security: {bind: 0.0.0.0:8000, api_keys: [{env: APPLIANCE_KEY}]}",
    ),
    Code(
        "AP0241",
        "every web page, with the visitor's credentials",
        'Origins `"*"` and `credentials: true` together let any page that somebody opens act in that person\'s name. '
        "Browsers refuse this combination.",
        "List the origins, or set `credentials: false`.",
    ),
    Code(
        "AP0242",
        "every web page may call",
        "The default is no origin at all. With `*` any page that a browser of your network opens may use the server.",
        "List the origins that need it.",
    ),
    Code(
        "AP0243",
        "not a web origin",
        "An origin is scheme, host and port, without a path or a closing slash; browsers compare it letter by letter.",
        "Write `https://app.example.org` or `http://localhost:3000`.",
    ),
    Code(
        "AP0244",
        "the same key twice",
        "Two entries of `security.api_keys` name the same variable or file.",
        "Remove one.",
    ),
    Code(
        "AP0245",
        "not a host name",
        "`security.media.domains` lists bare host names, without scheme, port or path.",
        "Write `cdn.example.org`.",
    ),
    Code(
        "AP0246",
        "a secret in the repository's address",
        "The profile is text that others read. A password before the host, any user name in an http(s) address (tokens "
        "are written there) and a query are refused; the address is not repeated in any message.",
        "Name the secret in `gitops.credentials`, and replace it: it stood in a text.",
        "gitops: {repo: https://token@example.org/x.git, path: p.yaml}\n"
        "gitops: {repo: https://example.org/x.git, path: p.yaml, credentials: {env: GIT_TOKEN}}",
    ),
    Code(
        "AP0247",
        "not a repository's address",
        "Repositories are followed over https, http, ssh and in folders of this machine. A folder is named absolutely: "
        "the profile may come from the repository itself, which has no folder here.",
        "Write `https://host/name.git`, `ssh://user@host/name.git`, `user@host:name.git`, `file:///folder`, `/folder`.",
    ),
    Code(
        "AP0248",
        "not a path inside the repository",
        "`gitops.path` names one file from the top of the repository, without `..`, and not from the root of this "
        "machine.",
        "Write it as `profiles/chat.yaml`.",
    ),
    Code(
        "AP0249",
        "not a signing key",
        "`gitops.signed_by` lists SSH public keys, as `ssh-keygen` writes them into a `.pub` file and git signs with "
        "where `gpg.format` is `ssh`. OpenPGP and X.509 signatures are not supported.",
        "Write the line of the `.pub` file.",
        'signed_by: [0xDEADBEEF]\nsigned_by: ["ssh-ed25519 AAAAC3Nza... ops@example.org"]',
    ),
    Code(
        "AP0250",
        "known, and not built yet",
        "The profile's schema already has this field or value, and no part of this appliance carries it out. It is "
        "refused instead of ignored: what a profile says is what runs.",
        "Write what the message names. Endpoints set to `auto` are served as soon as the appliance has them.",
    ),
    Code(
        "AP0251",
        "credentials that do not fit the address",
        "A token goes with https alone, a private key and `known_hosts` with ssh; a folder needs neither.",
        "Do what the message says.",
    ),
    Code(
        "AP0252",
        "a profile over an open road",
        "What comes over http:// can be changed by anybody on the way, and a profile decides what this machine runs.",
        "Write `https://`, or list the keys that must have signed in `gitops.signed_by`.",
    ),
    Code(
        "AP0253",
        "looks too often",
        "Each look at a repository is a process and a connection.",
        "Write a second or more; a minute is usual.",
    ),
    Code(
        "AP0254",
        "a commit cannot be followed",
        "A branch or a tag can move to another commit; a commit stays what it is.",
        "Name a branch or a tag, or use the file of that commit without `gitops`.",
    ),
)

CODES = {page.code: page for page in _PAGES}
