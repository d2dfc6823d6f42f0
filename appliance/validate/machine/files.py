"""Files and folders that the profile names."""

import os
from collections.abc import Iterator
from pathlib import Path

from ...diagnostics import Diagnostic
from ..facts import Facts

FILES = ("model.chat_template", "security.tls.cert", "security.tls.key")
FOLDERS = ("security.media.local_path",)


def named_files(facts: Facts) -> Iterator[Diagnostic]:
    for path in (*FILES, *FOLDERS):
        name = facts.value(path)
        if name is None:
            continue
        what = "folder" if path in FOLDERS else "file"
        there = os.path.isdir(name) if path in FOLDERS else os.path.isfile(name)  # noqa: PTH112, PTH113
        if not there:
            yield facts.error("AP0303", path, f"no {what} {name}", "correct the path")
        elif not os.access(name, os.R_OK):
            yield facts.error("AP0303", path, f"{name} cannot be read by this user", "change its permissions")


def template(facts: Facts) -> Iterator[Diagnostic]:
    name = facts.profile.model.chat_template
    if name is None or not os.access(name, os.R_OK) or not os.path.isfile(name):  # noqa: PTH113
        return
    from jinja2 import Environment, TemplateSyntaxError

    try:
        Environment(extensions=["jinja2.ext.loopcontrols"]).parse(Path(name).read_text(encoding="utf-8"))
    except TemplateSyntaxError as error:
        fact = f"{name}:{error.lineno}: not a Jinja template: {error.message}"
        yield facts.error("AP0304", "model.chat_template", fact, "correct the template")
    except RecursionError:
        yield facts.error("AP0304", "model.chat_template", f"{name} is nested too deep", "correct the template")
    except UnicodeDecodeError:
        yield facts.error("AP0304", "model.chat_template", f"{name} is not UTF-8", "save it as UTF-8")
