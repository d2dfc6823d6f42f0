"""The first tier: bytes of a file -> Document, or why they are not one YAML text."""

import os
import re
import stat

from ..diagnostics import Diagnostic, Position, Severity
from .document import Document
from .reader import Reader

MAX_BYTES = 2**20
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


def read_file(path: str) -> tuple[Document, list[Diagnostic]]:
    """Never raises for what the file holds; AP0001 says that it could not be read at all."""
    try:
        with open(path, "rb", opener=_open) as file:
            data = file.read(MAX_BYTES + 1)
            pipe = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
    except OSError as error:
        fix = "name the profile inside it" if isinstance(error, IsADirectoryError) else "correct path or permissions"
        return Document(path, "", None), [finding(path, "AP0001", f"cannot be read: {error.strerror}", fix)]
    except ValueError:
        return Document(path, "", None), [finding(path, "AP0001", "cannot be read: the name holds a NUL", "correct it")]
    if pipe and not data:
        fact = "is a pipe that nobody writes to"
        return Document(path, "", None), [finding(path, "AP0001", fact, "name a file")]
    return read_bytes(data, path)


def _open(path: str, flags: int) -> int:
    """A pipe that nobody writes to is empty instead of waited for; `<(command)` is read to its end."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


def read_bytes(data: bytes, file: str) -> tuple[Document, list[Diagnostic]]:
    empty = Document(file, "", None)
    if len(data) > MAX_BYTES:
        return empty, [finding(file, "AP0003", f"larger than {MAX_BYTES >> 20} MiB", "a profile is a page of text")]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        position = Position(file, line, column)
        fact = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return empty, [Diagnostic("AP0002", Severity.ERROR, position, "", fact, "save the file as UTF-8")]
    return read_text(text, file)


def read_text(text: str, file: str) -> tuple[Document, list[Diagnostic]]:
    if control := CONTROL.search(text):
        line = text.count("\n", 0, control.start()) + 1
        column = control.start() - text.rfind("\n", 0, control.start())
        position = Position(file, line, column)
        fact = f"the control character U+{ord(control[0]):04X}"
        return Document(file, text, None), [Diagnostic("AP0006", Severity.ERROR, position, "", fact, "remove it")]
    reader = Reader(file, text)
    root = reader.read()
    if root is None and not reader.findings:
        return Document(file, text, None), [finding(file, "AP0007", "empty", "profiles/quickstart.yaml is a beginning")]
    return Document(file, text, root), reader.findings


def finding(file: str, code: str, fact: str, fix: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, Position(file), "", fact, fix)
