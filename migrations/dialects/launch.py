"""Which words of a command are the engine's: behind wrappers, containers, `env A=B`, variables that hold a program."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from appliance.migrations.canonical import Entrypoint
from appliance.migrations.dialects.serving import engine_image, engine_options, other_engine, serves

# Something in a quoted word that is worth reading as a shell text of its own.
NESTED = re.compile(
    r"vllm['\"]?\s+serve\b|vllm\.entrypoints|-m dynamo\.vllm\b|\b(?:docker|podman|nerdctl)\s+run\b[\s\S]*?vllm"
)
SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=(?!=)")
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_FILES = frozenset({"apptainer", "singularity"})
_IMAGE_FILE = re.compile(r"\.s(?:if|img)\Z|\A(?:docker|library|oras)://")
_TALKERS = frozenset(
    {"echo", "printf", "pip", "pip3", "pkill", "pgrep", "grep", "egrep", "rg", "man", "which", "type", "kill", "apt"}
    | {"apt-get", "logger", "cat", "sed", "awk", "conda", "mamba", "git", "alias", "log", "info", "warn", "error"}
    | {"die", "cd", "test", "[", "[[", "trap"}
)
# Options of `docker run` that take no value; every other one does, unless it is written with `=`.
_SWITCHES = frozenset(
    {"--detach", "--interactive", "--tty", "--rm", "--init", "--privileged", "--read-only", "--publish-all", "--quiet"}
    | {"--no-healthcheck", "--oom-kill-disable", "--sig-proxy", "--disable-content-trust", "--replace", "--no-hosts"}
    | {"--help", "--rmi", "--env-host"}
)
# stands for words that a variable brings, of which none is the image
BROUGHT = "--rm"
# an image further on, so that a variable in front of it holds options
_TAGGED = re.compile(r"\A(?!https?:)[\w./:-]+/[\w.-]+:[\w.$\{-]")
_SHORT_SWITCHES = re.compile(r"-[ditPq]+\Z")


@dataclass(frozen=True, slots=True)
class Launch:
    """start: index of the first argument of the engine. image: index of the image, settings: of words `A=B`, each with
    the character where the setting itself begins. name: what the container is called. files: of words that name files
    of variables, likewise. passed: variables of the shell that the container is handed.
    """

    entrypoint: Entrypoint
    start: int
    settings: tuple[tuple[int, int], ...] = ()
    image: int | None = None
    name: str = ""
    files: tuple[tuple[int, int], ...] = ()
    passed: tuple[str, ...] = ()

    def behind(self, words: int) -> "Launch":
        """As the words behind so many others have it."""
        settings, files = (
            tuple((index - words, start) for index, start in places if index >= words)
            for places in (self.settings, self.files)
        )
        image = None if self.image is None else self.image - words
        return replace(self, start=self.start - words, settings=settings, files=files, image=image)


@dataclass(frozen=True, slots=True)
class Container:
    """The options of a `docker run`: image None when there is no image."""

    image: int | None
    settings: tuple[tuple[int, int], ...]
    entrypoint: str
    name: str
    files: tuple[tuple[int, int], ...] = ()
    passed: tuple[str, ...] = ()


def talks(words: Sequence[str]) -> bool:
    """Whether the command only speaks about its words."""
    if words[1:2] == ["run"] and PurePosixPath(words[0]).name in ("conda", "mamba"):
        return False
    return bool(words) and PurePosixPath(words[0]).name in _TALKERS


def launch(words: Sequence[str], assignments: int = 0) -> Launch | None:
    """words: decoded, variables that hold one word already followed. assignments: how many stand in front."""
    if talks(words[assignments:]):
        return None
    front = tuple((index, 0) for index in range(assignments))
    tool = container_tool(words, assignments)
    if tool is not None:
        return _contained(words, tool, front)
    found = serves(words)
    if found is None:
        return _runs_file(words, assignments, front)
    start, entrypoint = found
    inner = ((i, 0) for i in range(assignments, start) if SETTING.match(words[i]))
    return Launch(entrypoint, start, (*front, *inner))


def _runs_file(words: Sequence[str], begin: int, front: tuple[tuple[int, int], ...]) -> Launch | None:
    """`apptainer run image.sif ...`, which starts what the image was made to start."""
    tool = next((i for i in range(begin, min(len(words), begin + 6)) if PurePosixPath(words[i]).name in _FILES), None)
    if tool is None or "run" not in words[tool + 1 : tool + 4]:
        return None
    image = next((i for i in range(tool + 2, len(words)) if _IMAGE_FILE.search(words[i])), None)
    if image is None or not engine_image(words[image]):
        return None
    # `instance run` has the instance's name behind the image
    start = image + 1 + ("instance" in words[tool + 1 : tool + 3])
    given = ((i + 1, 0) for i in range(tool, image - 1) if words[i] == "--env" and SETTING.match(words[i + 1]))
    return Launch(Entrypoint.IMAGE, start, (*front, *given)) if words[start:] else None


def container_tool(words: Sequence[str], start: int = 0) -> int | None:
    """The index of `run` or `create` of a container tool."""
    for index in range(start, min(len(words), start + 6)):
        if PurePosixPath(words[index]).name in _CONTAINERS:
            following = [i for i in range(index + 1, min(len(words), index + 6)) if words[i] in ("run", "create")]
            return following[0] if following and "compose" not in words[index : following[0]] else None
    return None


def container(words: Sequence[str], run: int) -> Container:
    settings: list[tuple[int, int]] = []
    files: list[tuple[int, int]] = []
    passed: list[str] = []
    entrypoint = name = ""
    index = run + 1
    while index < len(words):
        word = words[index]
        if word[:1] == "$" and any(engine_image(later) and _TAGGED.search(later) for later in words[index + 1 :]):
            index += 1
            continue
        if not word.startswith("-"):
            return Container(index, tuple(settings), entrypoint, name, tuple(files), tuple(passed))
        flag, equals, inline = word.partition("=")
        if flag in _SWITCHES or _SHORT_SWITCHES.match(word):
            index += 1
            continue
        if re.match(r"-e[A-Za-z_]", word) and equals:
            settings.append((index, 2))
            index += 1
            continue
        at, value, inner = (
            (index, inline, len(flag) + 1) if equals else (index + 1, "".join(words[index + 1 : index + 2]), 0)
        )
        if flag in ("-e", "--env") and SETTING.match(value):
            settings.append((at, inner))
        elif flag in ("-e", "--env"):
            passed.append(value)
        elif flag == "--env-file" and value:
            files.append((at, inner))
        elif flag == "--entrypoint":
            entrypoint = value
        elif flag == "--name":
            name = value
        index = at + 1
    return Container(None, tuple(settings), entrypoint, name)


def _contained(words: Sequence[str], run: int, front: tuple[tuple[int, int], ...]) -> Launch | None:
    found = container(words, run)
    if found.image is None:
        return None
    image = words[found.image]
    first = found.image + 1
    rest = [found.entrypoint, *words[first:]]
    inside = serves(rest)
    if inside is not None:
        start, entrypoint = inside
        behind = first - 1 + start
        return Launch(entrypoint, behind, found.settings, found.image, found.name, found.files, found.passed)
    named = engine_image(image) or (engine_options(words[first:]) and not other_engine(image))
    if not named or found.entrypoint not in ("", "vllm") or not words[first:]:
        return None
    return Launch(Entrypoint.IMAGE, first, found.settings, found.image, found.name, found.files, found.passed)
