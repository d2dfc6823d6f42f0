"""Remarks about what a deployment leaves open; nothing here is ever edited, and no secret is ever repeated."""

from collections.abc import Iterator
from dataclasses import dataclass

from appliance.diagnostics import Severity
from appliance.migrations.canonical import UNKNOWN
from appliance.migrations.change import Change, Part
from appliance.migrations.operations import Raw
from appliance.migrations.release import Release
from appliance.migrations.rule import Room, Target, env, option
from appliance.migrations.settings import Leaf, Settings
from appliance.migrations.values import SECRETS, as_bool, same

# Since this release an empty `--allowed-origins` is the default.
_CORS_CLOSED = Release(0, 32)
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_KEY_NAMES = ("api-key", "VLLM_API_KEY")
_KEYS = (option("api-key"), env("VLLM_API_KEY"))


@dataclass(frozen=True, slots=True)
class _Switch:
    """A setting that opens something when it is on."""

    code: str
    target: Target
    fact: str
    way_out: str
    near: str = ""  # the way out where the server listens on this machine only


_SWITCHES = (
    _Switch(
        "VM0025",
        env("VLLM_SERVER_DEV_MODE"),
        "opens /sleep, /wake_up, /collective_rpc and /reset_* to anyone who reaches the port, key or no key",
        "bind to 127.0.0.1 or put a gate in front",
        "it listens on this machine only: keep it so",
    ),
    _Switch(
        "VM0026",
        env("VLLM_ALLOW_RUNTIME_LORA_UPDATING"),
        "lets every client with access load and unload adapters from paths of the server",
        "bind to 127.0.0.1 or put a gate in front",
        "it listens on this machine only: keep it so",
    ),
    _Switch(
        "VM0027",
        option("enable-log-outputs"),
        "writes prompts and answers into the log",
        "leave it off where they are private",
    ),
    _Switch(
        "VM0028",
        option("trust-remote-code"),
        "runs code that comes with the model",
        "pin --revision to a commit you have read",
    ),
)


def check_security(settings: Settings, target: Release) -> list[Change]:
    return [*_secrets(settings), *_routes(settings), *_cors(settings, target), *_switches(settings)]


def _remark(code: str, leaf: Leaf | None, subject: str, fact: str, way_out: str) -> Change:
    site = leaf.site if leaf else None
    return Change(Part.SECURITY, code, Severity.WARNING, subject, f"{subject}: {fact}", way_out, site)


def _secrets(settings: Settings) -> Iterator[Change]:
    for leaf in settings.leaves:
        if leaf.name not in SECRETS or leaf.value is UNKNOWN or isinstance(leaf.value, Raw) or leaf.site.source:
            continue
        subject = str(Target(leaf.room, leaf.name))
        values = leaf.value if isinstance(leaf.value, list) else [leaf.value]
        if leaf.name not in _KEY_NAMES and not any(values):
            fact = "the token is empty, so models behind a licence are not fetched"
            yield _remark("VM0030", leaf, subject, fact, "take it from a secret, or leave it out")
        elif leaf.name.lower().replace("_", "-").endswith("api-key") and not any(values):
            fact = "an empty key is dropped, so the server runs open"
            yield _remark("VM0022", leaf, subject, fact, "set a key, or leave the option out on purpose")
        elif any(isinstance(value, str) and value for value in values):
            fact = "a secret stands here in clear text"
            fact += "" if leaf.room is Room.ENV else ", and command lines are visible to every process"
            yield _remark("VM0021", leaf, subject, fact, "take it from the environment or a secret store")


def _routes(settings: Settings) -> Iterator[Change]:
    keys = [leaf for key in _KEYS for _, leaves in settings.at(key) for leaf in leaves]
    if keys:
        fact = "guards only /v1, /v2 and /inference; /invocations, /tokenize, /score and /metrics stay open"
        yield _remark(
            "VM0023", keys[0], str(Target(keys[0].room, keys[0].name)), fact, "put a gate in front of the port"
        )
        return
    for _, leaves in settings.at(option("host")):
        if leaves[0].value in ("0.0.0.0", "::", ""):
            yield _remark("VM0024", leaves[0], "--host", "listens on every address without a key", "set --api-key")


def _cors(settings: Settings, target: Release) -> Iterator[Change]:
    for _, leaves in settings.at(option("allowed-origins")):
        if any("*" in str(leaf.value) for leaf in leaves):
            fact = "every web page may call this server from its visitors' browsers"
            yield _remark("VM0029", leaves[0], "--allowed-origins", fact, "list the origins that you serve")
    if target < _CORS_CLOSED and not settings.sets(option("allowed-origins")) and settings.leaves:
        fact = f'the default of {target.short} is ["*"]: every web page may call this server'
        yield _remark("VM0029", None, "--allowed-origins", fact, "list the origins that you serve")


def _switches(settings: Settings) -> Iterator[Change]:
    hosts = [leaves[0].value for _, leaves in settings.at(option("host"))]
    near = bool(hosts) and all(host in _LOOPBACK for host in hosts)
    for switch in _SWITCHES:
        for _, leaves in settings.at(switch.target):
            value = leaves[0].value
            if isinstance(value, str | bool | int) and as_bool(value) and not same(value, False):
                way_out = switch.near if near and switch.near else switch.way_out
                yield _remark(switch.code, leaves[0], str(switch.target), switch.fact, way_out)
