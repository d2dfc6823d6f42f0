"""What the step from the running plan to a new one takes. Pure: plain values in, a decision or a refusal out."""

from dataclasses import dataclass, field
from typing import Literal

from appliance.plan.diff import Change
from appliance.plan.units import size
from appliance.supervise.backends import EngineChange
from appliance.supervise.proposal import Action

Strategy = Literal["auto", "surge", "drain"]


@dataclass(frozen=True)
class Room:
    """Bytes on the device that holds the engines. None of it is known where the backend measures for itself."""

    budget: int
    """What the appliance may hold, by its share and by what others hold now."""
    running: int
    """The running generation with a full cache."""
    wanted: int
    """The new one with a full cache."""
    free: int
    """Really free now, less what is kept free of everybody."""

    @property
    def fits(self) -> bool:
        return self.running + self.wanted <= self.budget and self.wanted <= self.free

    def __str__(self) -> str:
        both = f"{size(self.running)} running and {size(self.wanted)} new"
        if self.running + self.wanted > self.budget:
            return f"{both} do not fit in a budget of {size(self.budget)}"
        if self.wanted > self.free:
            return f"the new engine needs {size(self.wanted)}, {size(self.free)} are free now"
        return f"{both} fit in a budget of {size(self.budget)}"


@dataclass(frozen=True)
class Situation:
    changes: tuple[Change, ...]
    """Between the two plans, field by field."""
    engine: EngineChange
    contents: tuple[str, ...] = ()
    """Fields whose file holds something else now, under the same name."""
    strategy: Strategy = "auto"
    overridden: frozenset[str] = frozenset()
    """Listener fields above which the command line stands."""
    room: Room | None = None
    """Needed where engines are replaced; None = not known."""


@dataclass(frozen=True)
class Decision:
    action: Action
    listener: bool = False
    """New sockets and new server processes as well."""
    settings: dict[str, bool | int | str] = field(default_factory=dict)
    """For `reconfigure`."""
    reasons: tuple[str, ...] = ()


class DoesNotFit(Exception):  # noqa: N818 - a fact
    """The profile insists on surge, and there is no room for two generations."""


def decide(situation: Situation) -> Decision:
    """Raises DoesNotFit."""
    told = [change.path for change in situation.changes if change.reload == "listener"]
    listener = [path for path in told if path not in situation.overridden]
    listens = (f"{', '.join(listener)}: new server processes",) if listener else ()
    if situation.engine.replace:
        action, why = _replace(situation)
        return Decision(action, bool(listener), reasons=(*situation.engine.replace, why, *listens))
    if situation.engine.settings:
        taken = "a running engine takes " + ", ".join(situation.engine.settings)
        return Decision("reconfigure", bool(listener), situation.engine.settings, (taken, *listens))
    if not situation.changes and not situation.contents:
        return Decision("none", reasons=("the plan is the one that runs",))
    new = tuple(f"{path}: the file's content" for path in situation.contents)
    return Decision("live", bool(listener), reasons=(*new, "no engine is touched", *listens))


def insist(decision: Decision, situation: Situation, refusal: str) -> Decision:
    """After a running engine refused its new settings: new processes have them."""
    action, why = _replace(situation)
    return Decision(action, decision.listener, reasons=(f"the running engine refused: {refusal}", why))


def _replace(situation: Situation) -> tuple[Action, str]:
    room, strategy = situation.room, situation.strategy
    if strategy == "drain":
        return "drain", "reload.strategy: drain"
    if strategy == "surge":
        if room is not None and not room.fits:
            raise DoesNotFit(str(room))
        return "surge", "reload.strategy: surge"
    if room is None:
        return "drain", "whether two generations fit is not known"
    return ("surge" if room.fits else "drain"), str(room)
