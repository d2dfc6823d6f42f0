"""Which files a profile makes worth watching, and whose edit they are."""

from pathlib import Path

from appliance.engine.lora.config import NAME
from appliance.engine.lora.stored import WEIGHTS
from appliance.profile import Profile
from appliance.profile.source import parse_source


def watched_files(file: Path, profile: Profile | None) -> dict[Path, str]:
    """Absolute path -> `file` (profile, chat template, adapters of this machine) or `secret` (keys, certificates).

    None = the profile's own file alone, as long as its text is not valid.
    """
    found: dict[Path, str] = {}
    if profile is not None:
        security = profile.security
        secrets = [key.file for key in security.api_keys]
        secrets += [security.tls.cert, security.tls.key] if security.tls else []
        found |= {_absolute(Path(name)): "secret" for name in secrets if name is not None}
        if profile.model.chat_template is not None:
            found[_absolute(Path(profile.model.chat_template))] = "file"
        for source in (parse_source(adapter.source) for adapter in profile.model.adapters):
            if source.kind == "folder":
                found |= {_absolute(Path(source.path) / name): "file" for name in (NAME, WEIGHTS)}
    return found | {_absolute(file): "file"}


def _absolute(path: Path) -> Path:
    """Links stay: it is they that a ConfigMap's update turns to another file."""
    return path.expanduser().absolute()
