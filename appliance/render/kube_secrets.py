"""The Secret that holds API keys and git credentials: its entries by name. It is referred to, never written."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import Subject
from .container import mounted_secrets
from .names import data_key
from .needs import API_KEYS, secret_variables


@dataclass(frozen=True)
class KeySecret:
    name: str
    variables: tuple[str, ...]
    """Entry and variable have one name."""
    files: tuple[tuple[Path, str], ...]
    """(path in the container, entry)."""
    opens: str | None
    """An entry that is an API key."""

    @property
    def entries(self) -> list[str]:
        return [*self.variables, *(entry for _, entry in self.files)]

    def environment(self) -> list[dict[str, Any]]:
        return [variable(name, self.name, False) for name in self.variables]

    def mounts(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """(volume, mount): one folder each, never single files, so that a changed Secret arrives."""
        made = []
        for index, folder in enumerate(sorted({path.parent for path, _ in self.files})):
            items = [{"key": entry, "path": path.name} for path, entry in self.files if path.parent == folder]
            name = f"keys-{index}"
            source = {"secretName": self.name, "defaultMode": 0o440, "items": items}
            made.append(({"name": name, "secret": source}, {"name": name, "mountPath": str(folder), "readOnly": True}))
        return made


def variable(name: str, secret: str, optional: bool) -> dict[str, Any]:
    reference = {"name": secret, "key": name, **({"optional": True} if optional else {})}
    return {"name": name, "valueFrom": {"secretKeyRef": reference}}


def key_secret(subject: Subject, name: str) -> KeySecret:
    mounted = mounted_secrets(subject)
    files = list(dict.fromkeys(found.file for found in mounted))
    variables = tuple(secret_variables(subject))
    plain = Counter([*variables, *(data_key(path.name) for path in files)])
    entries = tuple(
        (path, data_key(path.name) if plain[data_key(path.name)] == 1 else data_key(str(path).strip("/")))
        for path in files
    )
    opens = [key.env for key in subject.profile.security.api_keys if key.env]
    opens += [dict(entries)[found.file] for found in mounted if found.path.startswith(API_KEYS)]
    return KeySecret(f"{name}-keys", variables, entries, opens[0] if opens else None)
