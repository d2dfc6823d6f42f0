"""The case files of the YAML family: `<dialect>.<name>.<ending>`, beside each the sites that it has."""

from functools import cache
from pathlib import Path

from appliance.migrations.canonical import UNKNOWN, Deployment, Edit, Kind, apply_edits
from appliance.migrations.dialects import Dialect, load
from appliance.migrations.operations import CannotEditError, Operation
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import release
from appliance.migrations.values import to_text

FOLDER = Path(__file__).parents[1] / "migrations" / "cases" / "yaml"
CASES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".yaml", ".json"))
FAMILY = (
    "compose",
    "kubeai",
    "kserve",
    "kaito",
    "aibrix",
    "dynamo",
    "vllm-runtime",
    "kubernetes",
    "production-stack",
    "llm-d",
    "ray-serve",
    "skypilot",
    "dstack",
    "truss",
    "gpustack",
    "vllm-config",
    "registry",
)


def detected(path: str, text: str) -> str | None:
    """The dialect of the family that is surest of the text."""
    found = max(FAMILY, key=lambda name: load(name).detect(path, text))
    return found if load(found).detect(path, text) else None


@cache
def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def dialect_of(path: Path) -> Dialect:
    return load(path.name.partition(".")[0])


def edits(dialect: Dialect, text: str, deployment: Deployment, operations: list[Operation]) -> list[Edit]:
    """Of those operations that can be carried out."""
    while True:
        try:
            return dialect.edit(text, deployment, operations)
        except CannotEditError as error:
            assert any(operation is error.operation for operation in operations)
            operations = [operation for operation in operations if operation is not error.operation]


def migrated(dialect: Dialect, path: str, text: str) -> str:
    """The text at 0.32, by the rules."""
    found: list[Edit] = []
    for deployment in dialect.read(path, text):
        start = deployment.release.release if deployment.release else None
        changes = plan_changes(deployment.sites, start, release("0.32"), deployment.model)
        found += edits(dialect, text, deployment, [op for change in changes for op in change.operations])
    return apply_edits(text, dict.fromkeys(found))


def listed(text: str, deployments: list[Deployment]) -> str:
    """The sites as lines of a `.sites` file; the texts come from the positions."""
    lines = []
    for deployment in deployments:
        hint = f" {deployment.release.text} = {deployment.release.release}" if deployment.release else ""
        lines.append(f"[{deployment.label or '-'}] {deployment.entrypoint}, {deployment.model or 'no model'}{hint}")
        for site in deployment.sites:
            name = ".".join((site.name, *site.path)) if site.kind is Kind.OPTION else f"${site.name}"
            value = "UNKNOWN" if site.value is UNKNOWN else f"{type(site.value).__name__} {to_text(site.value)}"
            quirk = f" !{site.quirk}" if site.quirk else ""
            written = [text[span.start : span.end] for span in (site.name_span, site.value_span) if span]
            lines.append(f"  {name} = {value} ({site.form}{quirk}) {' | '.join(written)!r}")
    return "\n".join(lines) + "\n"
