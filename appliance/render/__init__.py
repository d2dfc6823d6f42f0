"""What an operator hands to other programs, written from a profile and its plan. Kind -> module:class, imported on use.

Plain text that depends on nothing but its inputs: no clock, no host name, no order of hashes.
"""

from importlib import import_module

from .base import Options, Rendered, Renderer, Subject

__all__ = ["RENDERERS", "Options", "Rendered", "Renderer", "Subject", "find_renderer"]

RENDERERS: dict[str, str] = {
    "kubernetes": "kubernetes:Kubernetes",
    "helm": "helm:Helm",
    "compose": "compose:Compose",
    "systemd": "systemd:Systemd",
    "vllm": "vllm:Vllm",
}


def find_renderer(kind: str) -> Renderer:
    """KeyError for an unknown kind."""
    module, name = RENDERERS[kind].split(":")
    made: type[Renderer] = getattr(import_module(f".{module}", __package__), name)
    return made()
