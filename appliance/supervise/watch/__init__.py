"""Notices when a file that the running appliance was built from has other content than before."""

from .change import Change, What
from .files import watched_files
from .watcher import Watcher

__all__ = ["Change", "Watcher", "What", "watched_files"]
