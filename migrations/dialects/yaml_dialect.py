"""What the dialects of the YAML family share: which texts they look at, how these are read, how edits come back."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from appliance.migrations.canonical import Deployment, Edit
from appliance.migrations.dialects import DialectError
from appliance.migrations.dialects.wishes import edits_of
from appliance.migrations.dialects.yaml_tree import Tree, file_tree
from appliance.migrations.operations import Operation

_ENDINGS = frozenset({".yaml", ".yml", ".json", ".tpl", ".j2", ".jinja", ".jinja2", ".template", ".tmpl", ".tftpl"})
_SKIPPED = r"(?:(?:---|%YAML|#|\{[{%#])[^\n]*(?:\n|\Z)\s*)*"
_SHAPE = re.compile(rf"""\s*{_SKIPPED}(?:[{{\[]|-\s|["']?[\w./$-]+["']?\s*:)""")
ENGINE = re.compile(
    r"vllm|max[-_]?model[-_]?len|tensor[-_]?parallel|gpu[-_]memory[-_]util|served[-_]model[-_]name|max[-_]num[-_]seqs"
    r"|swap[-_]space|kv[-_]cache[-_]dtype|compilation[-_]config|enable[-_](?:prefix[-_]caching|chunked[-_]prefill)",
    re.IGNORECASE,
)
"""What every file of the family says that speaks of the engine."""


@dataclass(frozen=True, slots=True)
class YamlDialect:
    """certainty: 0..1 for a tree that could be read. reader: of a tree and the file's path, which may be empty.

    broken: marks an unreadable text that is this dialect's.

    needs: what every text of the dialect contains.
    """

    name: str
    certainty: Callable[[Tree], float]
    reader: Callable[[Tree, str], list[Deployment]]
    broken: re.Pattern[str] | None = None
    needs: str = ""

    def detect(self, path: str, text: str) -> float:
        if self.needs not in text or not looks_like_yaml(path, text):
            return 0.0
        try:
            return self.certainty(file_tree(text))
        except RecursionError:
            return 0.0
        except DialectError:
            return 0.2 if self.broken and self.broken.search(text) else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        try:
            return self.reader(file_tree(text), path)
        except RecursionError:
            raise DialectError(0, "nested too deeply to be followed") from None

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        return edits_of(deployment, operations)


def looks_like_yaml(path: str, text: str) -> bool:
    """Cheap enough for every file: by name where that tells, else by the first lines; and it speaks of the engine."""
    ending = PurePosixPath(path).suffix.lower()
    if ending and ending not in _ENDINGS:
        return False
    return bool(_SHAPE.match(text.lstrip("\ufeff"))) and "\0" not in text and ENGINE.search(text) is not None
