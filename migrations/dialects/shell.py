"""Shell scripts: `vllm serve`, the api_server module, containers, wrappers; arrays, option strings, here-documents.

A variable that is assigned once, at the top, with a literal is followed to find the model and the program, and for
options that take only certain values; its uses stay as they are written.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from appliance.migrations.canonical import Deployment, Edit, Entrypoint
from appliance.migrations.dialects import load
from appliance.migrations.dialects.embedded import Embedded, edit_embedded
from appliance.migrations.dialects.env_lines import only_settings
from appliance.migrations.dialects.layers import FileLayer
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.shell_edit import edit_words
from appliance.migrations.dialects.shell_exports import runs
from appliance.migrations.dialects.shell_reader import ShellReader
from appliance.migrations.dialects.words_reader import Seen
from appliance.migrations.operations import Operation

_SUFFIXES = frozenset({".sh", ".bash", ".zsh", ".ksh", ".slurm", ".sbatch", ".command", ".envrc"})
_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_STARTS = re.compile(r"vllm['\"]?[ \t]+serve\b|-m[ \t]+vllm\.entrypoints|\b(?:docker|podman|nerdctl)[ \t]+run\b")


class _Shell:
    name = "shell"

    def detect(self, path: str, text: str) -> float:
        named = PurePath(path).suffix.lower() in _SUFFIXES
        if named or _SHEBANG.match(text):
            return 0.9
        if PurePath(path).suffix or not _STARTS.search(text):
            return 0.1 if _STARTS.search(text) and PurePath(path).suffix in (".txt", ".md") else 0.0
        return 0.5

    def read(self, path: str, text: str) -> list[Deployment]:
        reader = ShellReader(FileLayer(text), seen=Seen(path))
        found = reader.read()
        if not found and (settings := reader.settings()):
            found = [Deployment(tuple(settings), Entrypoint.SERVE, release=reader.pin(), takes_options=False)]
        if not found and only_settings(text) and not runs(reader.layer):
            found = load("dotenv").read("", text)
        return with_neighbours(path, found)

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        if isinstance(deployment.handle, Embedded):
            return edit_embedded(deployment, operations)
        return edit_words(deployment, operations)


dialect = _Shell()
