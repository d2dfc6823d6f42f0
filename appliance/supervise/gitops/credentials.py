"""Reads what opens a repository from where the profile says it is kept."""

import os
from pathlib import Path

from appliance.api_key import UnusableKeyError, from_file, from_variable
from appliance.profile.gitops import GitCredentials

from .errors import FailedError


def token(given: GitCredentials) -> str:
    """FailedError AP1007 where there is none."""
    try:
        if given.file is not None:
            return from_file(given.file)
        assert given.env is not None
        return from_variable(given.env, os.environ.get(given.env))
    except UnusableKeyError as error:
        raise FailedError("AP1007", error.fact, error.fix) from None


def private_key(given: GitCredentials, scratch: Path) -> Path:
    """Where ssh finds it: the file itself, or one written into `scratch`, which is private and lasts for one look."""
    if given.file is not None:
        if not os.access(given.file, os.R_OK):
            raise FailedError("AP1007", f"{given.file} cannot be read", "correct path or permissions")
        return Path(given.file)
    text = os.environ.get(given.env or "", "")
    if "PRIVATE KEY" not in text:
        fact = f"the environment variable {given.env} holds no private key"
        raise FailedError("AP1007", fact, "put the text of the key file in it")
    file = scratch / "key"
    file.touch(mode=0o600)
    file.write_text(text.rstrip("\n") + "\n")
    return file
