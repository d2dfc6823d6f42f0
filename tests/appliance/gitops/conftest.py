"""A repository to be followed."""

from pathlib import Path

import pytest
from git_remote import Remote


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote(tmp_path / "remote")
