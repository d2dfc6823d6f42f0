"""Which files a profile makes worth watching, and whose edit they are."""

from pathlib import Path

from appliance.profile import Profile


def watched_files(file: Path, profile: Profile | None) -> dict[Path, str]:
    """Absolute path -> `file` (the profile, the chat template) or `secret` (keys, certificates).

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
    return found | {_absolute(file): "file"}


def _absolute(path: Path) -> Path:
    """Links stay: it is they that a ConfigMap's update turns to another file."""
    return path.expanduser().absolute()
