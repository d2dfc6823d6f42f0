"""Files of any dialect from one engine release to another: found, read, proved, written."""

from .find import Found, find
from .finding import PARTS, Finding, Outcome, Result
from .road import Wanted, migrate_file

__all__ = ["PARTS", "Finding", "Found", "Outcome", "Result", "Wanted", "find", "migrate_file"]
