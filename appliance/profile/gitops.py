"""Section `gitops`: the repository the profile is followed from."""

from .setting import Section, setting
from .types import Duration


class GitOps(Section):
    repo: str = setting(description="Address of the git repository.", reload="live", min_length=1)
    ref: str = setting("main", description="Branch or tag that is followed.", reload="live", min_length=1)
    path: str = setting(description="The profile's path inside the repository.", reload="live", min_length=1)
    interval: Duration = setting(60.0, description="Time between two looks.", unit="seconds", reload="live")
