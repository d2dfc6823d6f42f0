"""The table of commands. A new one is a module beside this file with one typer function, and a line here."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Command:
    target: str
    """module:function inside this package."""
    help: str
    any_option: bool = False
    """Words that begin with a dash are arguments too."""

    def load(self) -> Callable[..., Any]:
        module, function = self.target.split(":")
        loaded: Callable[..., Any] = getattr(import_module(f".{module}", __package__), function)
        return loaded


COMMANDS: dict[str, Command] = {
    "validate": Command("validate:validate", "Check profiles and files of other programs, line by line."),
    "migrate": Command("migrate:migrate", "Bring engine options in any file to another release."),
    "plan": Command("plan:plan", "Show what a profile becomes on a machine, and why."),
    "up": Command("up:up", "Boot the appliance and stay in the foreground."),
    "render": Command("render:render", "Write manifests, units and command lines from a profile."),
    "status": Command("status:status", "Say what runs, and whether it is what the profile says."),
    "reload": Command("reload:reload", "Try the profile's file now, and say what became of it."),
    "rollback": Command("rollback:rollback", "Go back to a state that was good, and hold it."),
    "history": Command("history:history", "List every state that was tried, or show one whole."),
    "diff": Command("diff:diff", "Show how the running text differs from the file, or revisions."),
    "pull": Command("pull:pull", "Fetch and verify a profile's model."),
    "explain": Command("explain:explain", "Print the page of a code, a field, or an option.", True),
    "schema": Command("schema:schema", "Print the JSON Schema that editors complete from."),
}
