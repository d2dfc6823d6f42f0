"""What is said about a deployment beside its options: one function a file, one line in the table each."""

from collections.abc import Callable, Iterator

from ..finding import Finding
from .charts import chart_remarks
from .comments import comment_remarks
from .concern import concerns
from .elsewhere import elsewhere_remarks
from .files import file_remarks
from .image import image_remarks
from .keywords import keyword_remarks
from .later import later_remarks
from .manifest import manifest_remarks
from .memory import memory_remarks
from .models import model_remarks
from .scene import Scene
from .secrets import advised
from .unit import unit_remarks
from .unread import unread, unread_remarks
from .waiting import waiting_remarks

REMARKS: tuple[Callable[[Scene, int], Iterator[Finding]], ...] = (
    image_remarks,
    model_remarks,
    later_remarks,
    elsewhere_remarks,
    file_remarks,
    manifest_remarks,
    unit_remarks,
    chart_remarks,
    keyword_remarks,
    waiting_remarks,
    memory_remarks,
    comment_remarks,
    unread_remarks,
)

__all__ = ["REMARKS", "Scene", "advised", "concerns", "unread"]
