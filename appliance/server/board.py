"""What the API server processes of one appliance know of each other: a row of numbers each, in memory they share.

Every process writes its own row only, so no lock is needed; who reads may see numbers a moment old.
"""

import mmap
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROW = 4
"""Numbers per process: open connections, unfinished requests, prompt tokens not yet prefilled, requests held."""
WIDTH = 8
"""Bytes of a number."""
NOT_ACCEPTING = 2**31 - 1
"""Stands for the connections of a process that has not begun to accept, or has stopped."""


def create(servers: int) -> int:
    """File descriptor of a fresh board for that many processes; every one inherits it. The caller closes it."""
    if sys.platform == "linux":
        handle = os.memfd_create("appliance-board")
    else:
        handle, path = tempfile.mkstemp()
        Path(path).unlink()
    os.ftruncate(handle, servers * ROW * WIDTH)
    return handle


@dataclass(eq=False)
class Board:
    numbers: memoryview
    """Signed 64-bit, row after row."""
    own: int
    """This process's row."""

    @classmethod
    def alone(cls) -> "Board":
        return cls.of(memoryview(bytearray(ROW * WIDTH)), 0)

    @classmethod
    def shared(cls, handle: int, servers: int, own: int) -> "Board":
        return cls.of(memoryview(mmap.mmap(handle, servers * ROW * WIDTH)), own)

    @classmethod
    def of(cls, memory: memoryview, own: int) -> "Board":
        """The row may hold what a process left that died in this place: it starts anew."""
        board = cls(memory.cast("q"), own)
        board.connections, board.requests, board.tokens, board.held = NOT_ACCEPTING, 0, 0, 0
        return board

    @property
    def servers(self) -> int:
        return len(self.numbers) // ROW

    @property
    def connections(self) -> int:
        return self.numbers[self.own * ROW]

    @connections.setter
    def connections(self, value: int) -> None:
        self.numbers[self.own * ROW] = value

    @property
    def requests(self) -> int:
        return self.numbers[self.own * ROW + 1]

    @requests.setter
    def requests(self, value: int) -> None:
        self.numbers[self.own * ROW + 1] = value

    @property
    def tokens(self) -> int:
        return self.numbers[self.own * ROW + 2]

    @tokens.setter
    def tokens(self, value: int) -> None:
        self.numbers[self.own * ROW + 2] = value

    @property
    def held(self) -> int:
        return self.numbers[self.own * ROW + 3]

    @held.setter
    def held(self, value: int) -> None:
        self.numbers[self.own * ROW + 3] = value

    @property
    def all_requests(self) -> int:
        return sum(self.numbers[1::ROW])

    @property
    def all_tokens(self) -> int:
        return sum(self.numbers[2::ROW])

    @property
    def all_held(self) -> int:
        return sum(self.numbers[3::ROW])

    @property
    def fewest_connections(self) -> int:
        return min(self.numbers[::ROW])
