"""Fields that differ, on 80 columns."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from appliance.plan.text import shown
from appliance.supervise.status import FieldChange

STYLES = {"live": "green", "reconfigure": "green", "engine": "yellow", "listener": "yellow"}


def grid(columns: int) -> Table:
    """Columns as wide as what they hold; the last one takes what is left."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for column in range(columns):
        table.add_column(no_wrap=column == 0, overflow="fold", ratio=1 if column == columns - 1 else None)
    return table


def section(console: Console, title: str, body: RenderableType) -> None:
    """The body stands two columns deeper than its title."""
    console.print(Text(title, style="bold"))
    depth = len(title) - len(title.lstrip()) + 2
    console.print(Padding(body, (0, 0, 0, depth), expand=False))


def changes_table(changes: Iterable[FieldChange]) -> Table:
    table = grid(3)
    for change in changes:
        value = Text(f"{shown(change.path, change.before)} → {shown(change.path, change.after)}")
        table.add_row(change.path, Text(change.reload, style=STYLES.get(change.reload, "")), value)
    return table


def print_reasons(console: Console, changes: Iterable[FieldChange]) -> None:
    """Why each kind of reload, once per kind and reason."""
    said = dict.fromkeys((change.reload, change.why) for change in changes if change.why)
    table = grid(2)
    for reload, why in said:
        table.add_row(Text(reload, style="dim"), Text(why, style="dim"))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))
