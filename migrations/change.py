"""What the resolver hands to the migrator, the validator and the report."""

from dataclasses import dataclass
from enum import StrEnum

from appliance.diagnostics import Severity
from appliance.migrations.canonical import OptionSite
from appliance.migrations.operations import Operation
from appliance.migrations.rule import Rule


class Part(StrEnum):
    """The four parts of the report."""

    CHANGED = "changed"
    DECISION = "needs your decision"
    BEHAVIOUR = "behaves differently although the text did not change"
    SECURITY = "security remark"


@dataclass(frozen=True, slots=True)
class Change:
    """One finding about one site, or about the deployment as a whole when there is none.

    severity: ERROR where the target release would not start, WARNING where it does something else, NOTE otherwise.
    operations: what to ask of the dialect, all of them or none; findings that belong together keep them with the first.
    """

    part: Part
    code: str
    severity: Severity
    subject: str
    message: str
    way_out: str = ""
    site: OptionSite | None = None
    rule: Rule | None = None
    operations: tuple[Operation, ...] = ()
