"""How a decision is carried out. Each module has `carry_out(transition) -> Made`.

It raises RolledBack with the old state serving again, Lost when that did not come back, EngineSaidNo when nothing was
done.
"""

from importlib import import_module
from typing import Protocol

from appliance.supervise.proposal import Action
from appliance.supervise.transition import Made, Transition

STRATEGIES: dict[Action, str] = {"live": "live", "reconfigure": "reconfigure", "surge": "surge", "drain": "drain"}


class Strategy(Protocol):
    async def carry_out(self, transition: Transition) -> Made: ...


def strategy(action: Action) -> Strategy:
    module: Strategy = import_module(f"{__name__}.{STRATEGIES[action]}")
    return module
