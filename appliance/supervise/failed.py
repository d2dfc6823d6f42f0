"""How a step towards a new state fails: one fact, and who serves afterwards."""

from appliance.engine.streams import EngineDied
from appliance.supervise.crew import Fell
from appliance.supervise.generation import Generation, NotOneModel
from appliance.supervise.server_control import ServerGone, ServerRefused


class Overtaken(Exception):  # noqa: N818
    """A newer proposal makes this one pointless: it is given up before it serves."""


STEPS = (Fell, NotOneModel, ServerGone, ServerRefused, EngineDied, Overtaken, TimeoutError, OSError)
"""What a step may end with besides its success; everything else is a defect of ours, and undone like these."""


class RolledBack(Exception):  # noqa: N818 - what was done about it
    """The new state did not come to be; `generation` serves the old one, and every request that was held."""

    def __init__(
        self,
        cause: BaseException,
        generation: Generation,
        settling: bool = False,
        retiring: Generation | None = None,
        carry: bool = False,
    ) -> None:
        super().__init__(str(cause))
        self.generation = generation
        self.settling = settling
        """It served for a while before it failed."""
        self.retiring, self.carry = retiring, carry
        """What of it still answers requests, and whether those may go on on `generation`."""


class Lost(Exception):  # noqa: N818
    """The old state did not come back either: nothing serves."""


class EngineSaidNo(Exception):  # noqa: N818
    """A running engine does not take the new settings; everything is as before."""
