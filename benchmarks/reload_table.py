"""What a reload costs, one measure a row, against the most it may be."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from table import RESULTS, processor


@dataclass(frozen=True)
class Measure:
    work: str
    what: str
    unit: str
    value: float
    most: float | None = None
    """None: only told."""

    @property
    def shown(self) -> str:
        """Counts whole, seconds to three digits."""
        return f"{self.value:.3g}" if self.unit else f"{self.value:,.0f}"

    @property
    def kept(self) -> bool:
        return self.most is None or self.value <= self.most


def publish(measures: list[Measure], keep: bool) -> bool:
    """Prints the table and, to `keep` it, writes its rows to results/reload.json; those of other parts stay there.

    Returns whether every promise was kept.
    """
    table = Table(title="reload")
    for column in ("work", "measure", "unit", "value", "at most"):
        table.add_column(column, justify="right" if column in ("value", "at most") else "left")
    before = ""
    for row in measures:
        colour = "default" if row.most is None else "green" if row.kept else "red"
        most = "" if row.most is None else f"{row.most:.3g}"
        work = row.work if row.work != before else ""
        table.add_row(work, row.what, row.unit, f"[{colour}]{row.shown}[/]", most)
        before = row.work
    Console().print(table)
    if keep:
        _keep(measures)
    return all(row.kept for row in measures)


def _keep(measures: list[Measure]) -> None:
    when = datetime.now(UTC).isoformat(timespec="seconds")
    made = [asdict(row) | {"kept": row.kept, "when": when} for row in measures]
    file = RESULTS / "reload.json"
    works = {row.work for row in measures}
    before = json.loads(file.read_text())["rows"] if file.exists() else []
    rows = [row for row in before if row["work"] not in works] + made
    RESULTS.mkdir(exist_ok=True)
    record = {"benchmark": "reload", "processor": processor(), "rows": rows}
    file.write_text(json.dumps(record, indent=1) + "\n")
