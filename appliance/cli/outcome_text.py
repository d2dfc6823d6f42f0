"""What became of a reload or a rollback, for people; its exit code says whether the appliance runs what was asked."""

import sys

from rich.console import Console
from rich.text import Text

from appliance.supervise.proposal import Outcome
from appliance.supervise.status import FieldChange

from .changes_text import changes_table, section
from .history_text import OUTCOMES, outcome_text
from .show import show

ACTIONS = {
    "none": "",
    "boot": "booted",
    "live": "taken over while serving",
    "reconfigure": "taken over by the running engine between two steps",
    "surge": "a new generation beside the old one, which then ends",
    "drain": "a new generation in place of the old one",
}


def print_outcome(outcome: Outcome, console: Console) -> int:
    """Exit code: 0 = it runs now, 1 = it does not."""
    if outcome.diagnostics:
        show(outcome.diagnostics, file=sys.stderr)
    changes = [
        FieldChange(path=change.path, before=change.before, after=change.after, reload=change.reload)
        for change in outcome.changes
    ]
    if changes:
        section(console, "Changes", changes_table(changes))
    word, style = outcome_text(outcome.result)
    number = f"revision {outcome.revision} " if outcome.revision is not None else "not in history: "
    meaning = ACTIONS[outcome.action] if outcome.result == "applied" else OUTCOMES[outcome.result].meaning
    text = Text.assemble(number, (word, style), f": {meaning}" if meaning else "")
    text.append(f"; generation {outcome.generation} serves")
    console.print(text)
    for reason in outcome.reasons:
        console.print(Text(f"  {reason}", style="dim" if outcome.good else "red"))
    return 0 if outcome.good else 1
