"""One table for every benchmark: each row is one piece of work, timed for a peer and for us in the same run."""

import json
import platform
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    work: str
    unit: str
    peer: str
    peer_median: float
    own_median: float
    higher_is_better: bool = True
    target: float = 1.0
    peer_runs: tuple[float, ...] = ()
    own_runs: tuple[float, ...] = ()

    @property
    def ratio(self) -> float:
        """Above 1 = we are better."""
        return self.own_median / self.peer_median if self.higher_is_better else self.peer_median / self.own_median


def compare(work: str, unit: str, peer: str, peer_runs: list[float], own_runs: list[float], **options: object) -> Row:
    return Row(
        work,
        unit,
        peer,
        statistics.median(peer_runs),
        statistics.median(own_runs),
        peer_runs=tuple(peer_runs),
        own_runs=tuple(own_runs),
        **options,  # type: ignore[arg-type]
    )


def measured(times: int, work: Callable[[], float]) -> list[float]:
    """One unmeasured round first."""
    work()
    return [work() for _ in range(times)]


def publish(name: str, rows: list[Row]) -> None:
    """Prints the table and writes results/NAME.json."""
    table = Table(title=name)
    for column in ("work", "unit", "peer", "peer", "appliance", "ratio", "target"):
        table.add_column(column, justify="left" if column in ("work", "unit") else "right")
    for row in rows:
        reached = row.ratio >= row.target
        table.add_row(
            row.work,
            row.unit,
            row.peer,
            f"{row.peer_median:.4g}",
            f"{row.own_median:.4g}",
            f"[{'green' if reached else 'red'}]{row.ratio:.2f}[/]",
            f"{row.target:g}",
        )
    Console().print(table)
    RESULTS.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "rows": [asdict(row) | {"ratio": round(row.ratio, 3)} for row in rows],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()
