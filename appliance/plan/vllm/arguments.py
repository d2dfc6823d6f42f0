"""The command line and the environment of `vllm serve`, in an order that depends on nothing but the profile."""

from appliance.profile import Profile

from ..resolved import leaves
from .fields import FIELDS, Wish
from .options import canonical, words

ALWAYS = ("--disable-uvicorn-access-log", "--disable-fastapi-docs", "--fail-on-environ-validation")
"""Our server writes the access log and is the only one that reaches vLLM; a misspelt variable is an error."""
PIXELS = 178_956_970
LORAS_IN_A_BATCH = 4


def arguments(profile: Profile, model_path: str, max_context: str, memory: list[str], copies: int) -> list[str]:
    """Behind `serve`. An option of `engine.vllm.options` stands once: what a field would write of it is left out."""
    options = canonical(profile.engine.vllm.options)
    target = profile.release
    found = [["--max-model-len", max_context], memory]
    for path, value, written, _ in leaves(profile):
        if path in FIELDS:
            found.append(FIELDS[path](Wish(profile, value, written)))
    found.append(_copies(profile, copies))
    found.append(_nodes(profile, options))
    found.append(["--max-loras", str(LORAS_IN_A_BATCH)] if profile.model.adapters else [])
    found.append(["--uvicorn-log-level", profile.observability.log_level])
    kept = [group for part in found for group in _groups(part) if group[0].removeprefix("--") not in options]
    own = [words(name, value, target) for name, value in sorted(options.items())]
    return [model_path, *(word for group in (*kept, *own) for word in group), *ALWAYS]


def environment(profile: Profile) -> dict[str, str]:
    """Shared by all replicas."""
    found = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": profile.observability.log_level.upper()}
    if not profile.model.trust_remote_code:
        found["HF_HUB_OFFLINE"] = "1"
    if profile.model.adapters:
        found["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "1"
    media = profile.security.media
    if media.domains:
        found["VLLM_MEDIA_URL_ALLOW_REDIRECTS"] = "0"
    if media.max_pixels != PIXELS:
        found["VLLM_MAX_IMAGE_PIXELS"] = str(media.max_pixels)
    return dict(sorted(found.items()))


def own_copies(profile: Profile) -> bool:
    """Whether data parallelism is vLLM's own: experts are spread over its replicas, so these must know each other."""
    return profile.parallelism.expert.enabled and profile.parallelism.data > 1


def _copies(profile: Profile, copies: int) -> list[str]:
    return ["--data-parallel-size", str(profile.parallelism.data)] if own_copies(profile) else []


def _nodes(profile: Profile, options: dict[str, object]) -> list[str]:
    nodes = profile.parallelism.nodes
    if nodes == 1 or options.get("distributed-executor-backend") == "ray":
        return []
    return ["--distributed-executor-backend", "mp", "--nnodes", str(nodes), "--node-rank", "0"]


def _groups(part: list[str]) -> list[list[str]]:
    """Each flag with the words that belong to it."""
    groups: list[list[str]] = []
    for word in part:
        if word.startswith("--"):
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups
