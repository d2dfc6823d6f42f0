"""What a container of the appliance needs from outside: names of variables and files, never what is in them."""

import re
from pathlib import Path

from appliance import __version__
from appliance.diagnostics import Diagnostic, Severity
from appliance.profile.interpolate import FORM, REFERENCE

from .base import Options, Subject
from .names import data_key
from .needs import NamedFile, local_sources, secret_files, secret_variables

CONFIG = "/etc/appliance"
PROFILE = "profile.yaml"
STATE = "/var/lib/appliance"
CACHE = "/var/cache/appliance"
PORT = 8000
USER = 10001
"""Of the images in deploy/."""
ENVIRONMENT = {"APPLIANCE_CACHE": CACHE, "HF_HOME": f"{CACHE}/huggingface", "HOME": CACHE, "TMPDIR": "/tmp"}
TAKEN = {"/", "/bin", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/root", "/run", "/sys", "/tmp", "/usr", "/var"}
TAKEN |= {"/usr/local", "/usr/bin", "/usr/lib", "/run/secrets", "/var/lib", "/var/cache", CONFIG, STATE, CACHE}
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")


def image(subject: Subject, options: Options) -> str:
    """The one of deploy/ for the plan's platform, unless the operator names another."""
    if options.image is None:
        return f"appliance:{__version__}-{subject.plan.machine.platform}"
    if not IMAGE.fullmatch(options.image):
        subject.refuse("AP0806", "", f"--image {options.image!r} is not an image's name", "write NAME:TAG")
    return options.image


def arguments(file_name: str = PROFILE) -> list[str]:
    """What follows the image's entry point: the profile's own address is only right outside of a container."""
    return ["up", f"{CONFIG}/{file_name}", "--bind", f"0.0.0.0:{PORT}", "--state-dir", STATE]


def references(subject: Subject) -> tuple[list[str], list[str]]:
    """(variables the profile cannot do without, variables with a default), in order of appearance."""
    needed: dict[str, None] = {}
    optional: dict[str, None] = {}
    for found in REFERENCE.finditer(_without_comments(subject)):
        if found[0] != "$${" and (form := FORM.fullmatch(found[1] or "")):
            (optional if form[2] else needed)[form[1]] = None
    keys = set(secret_variables(subject))
    return [name for name in needed if name not in keys], [
        name for name in optional if name not in needed and name not in keys
    ]


def mounted_secrets(subject: Subject) -> list[NamedFile]:
    """Their folders are mounted, so they must not hide anything of the image."""
    found = []
    for named in secret_files(subject):
        file = absolute(subject, named.path)
        if str(file.parent) in TAKEN:
            fact = f"{file} lies in a folder that the container needs itself"
            subject.refuse("AP0804", named.path, fact, "give keys a folder of their own, such as /etc/appliance-keys")
        found.append(NamedFile(named.path, file))
    return found


def local_folders(subject: Subject) -> dict[str, NamedFile]:
    """Volume -> folder of a model or an adapter that is not fetched, each folder once."""
    found: dict[str, NamedFile] = {}
    for index, named in enumerate(local_sources(subject)):
        path = absolute(subject, named.path)
        folder = path.parent if path.suffix.lower() == ".gguf" else path
        if str(folder) in TAKEN:
            fact = f"{folder} is a folder that the container needs itself"
            subject.refuse("AP0804", named.path, fact, "keep models in a folder of their own, such as /models")
        if folder not in [known.file for known in found.values()]:
            volume = "model" if named.path == "model.source" else f"adapter-{index}"
            found[volume] = NamedFile(named.path, folder)
    return found


def chat_template(subject: Subject) -> str | None:
    """Path below the profile's folder: the template goes where the profile goes."""
    if subject.profile.model.chat_template is None:
        return None
    text = subject.written("model.chat_template")
    if text.startswith(("/", "~")) or ".." in Path(text).parts:
        fact = f'"{text}" does not lie below the profile\'s folder'
        subject.refuse("AP0804", "model.chat_template", fact, "put it beside the profile and write its file name")
    return Path(text).as_posix()


def template_key(subject: Subject) -> str:
    return data_key(chat_template(subject) or "")


def template_data(subject: Subject) -> dict[str, str]:
    """Entry -> text, for the ConfigMap that carries the profile."""
    template = chat_template(subject)
    return {template_key(subject): (subject.folder / template).read_text(encoding="utf-8")} if template else {}


def absolute(subject: Subject, path: str) -> Path:
    """Inside a container neither the profile's folder nor a home is the operator's."""
    text = subject.written(path)
    if not text.startswith("/") or ".." in Path(text).parts:
        fact = f'"{text}" is a place only on the machine that renders'
        subject.refuse("AP0804", path, fact, "write a path that begins with / and is the same in the container")
    return Path(text)


def remarks(subject: Subject) -> list[Diagnostic]:
    """What every container needs to be told."""
    found = []
    needed, _ = references(subject)
    if needed:
        fact = f"the profile wants the environment variables {', '.join(needed)}"
        found.append(
            subject.remark("AP0807", Severity.WARNING, "", fact, "set them where the rendered text names them")
        )
    gitops = subject.profile.gitops
    if gitops is not None and gitops.repo.startswith(("/", "file:")):
        fact = "the repository is a folder of this machine"
        subject.refuse("AP0804", "gitops.repo", fact, "name a repository that the container reaches")
    if folder := subject.profile.security.media.local_path:
        fact = f"requests may name files in {folder}, which has to be part of the image"
        found.append(subject.remark("AP0802", Severity.WARNING, "security.media.local_path", fact, "or remove it"))
    if subject.profile.engine.backend == "vllm":
        command = subject.profile.engine.vllm.command[0]
        fact = f"the images of deploy/ hold no {command}, which backend vllm starts"
        fix = "install it on top of one, and name yours with --image"
        found.append(subject.remark("AP0809", Severity.WARNING, "engine.backend", fact, fix))
    return found


def _without_comments(subject: Subject) -> str:
    """Strings of the tree, one per line: comments name variables too."""

    def strings(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for item in value.values() for text in strings(item)]
        if isinstance(value, tuple | list):
            return [text for item in value for text in strings(item)]
        return [value] if isinstance(value, str) else []

    return "\n".join(strings(subject.document.tree))
