"""One API server process from its configuration to its exit code."""

import asyncio
import socket
import sys

import msgspec
import uvloop

from appliance.engine import logs
from appliance.server.board import Board
from appliance.server.channel import Channel, first_line, lines, say
from appliance.server.config import ServerConfig
from appliance.server.serving import DrainingServer
from appliance.server.shared import make_shared
from appliance.server.states import StateError
from appliance.server.succession import Succession


def serve(fd: int, board_fd: int | None, servers: int, number: int, metrics: str | None) -> int:
    line, rest = first_line(sys.stdin.fileno())
    config = msgspec.json.decode(line, type=ServerConfig)
    logs.configure(config.log_level, config.log_format)
    board = Board.alone() if board_fd is None else Board.shared(board_fd, servers, number)
    listener = socket.socket(fileno=fd)
    listener.setblocking(False)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config, rest, board, listener, metrics))


async def _serve(config: ServerConfig, rest: bytes, board: Board, listener: socket.socket, metrics: str | None) -> int:
    succession = Succession(make_shared(config, board, metrics))
    try:
        await succession.start(config)
    except StateError as error:
        say({"error": str(error)})
        return 2
    channel = Channel(succession)
    commands = asyncio.create_task(lines(sys.stdin.fileno(), rest, channel.take))
    try:
        await DrainingServer(succession, lambda: say({"ready": True})).serve([listener])
    finally:
        commands.cancel()
        await asyncio.gather(commands, return_exceptions=True)
        await channel.close()
        await succession.close()
    return 0
