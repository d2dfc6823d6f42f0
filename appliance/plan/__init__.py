"""A profile resolved against one machine and one checkpoint: every value explicit, each with its reason."""

from .catalogue import MACHINES
from .checkpoints import read_checkpoint
from .diff import Change, diff_plans
from .hardware import HardwareSnapshot, probe
from .make import make_plan
from .plan import Plan, plan_schema
from .resolved import Resolved

__all__ = [
    "MACHINES",
    "Change",
    "HardwareSnapshot",
    "Plan",
    "Resolved",
    "diff_plans",
    "make_plan",
    "plan_schema",
    "probe",
    "read_checkpoint",
]
