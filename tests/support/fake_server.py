"""A server that takes the supervisor's commands and knows /ready, /pids, /state, /work, /slow?SECONDS, /busy?SECONDS.

It is ready while the engine's socket answers; /work waits while it is held; /busy needs its engine all the time.
SIGTERM drains. A served name says how it takes a candidate: `unprovable` (its proof fails), `dies-in-proof`,
`dies-in-switch`; a file of that name in its model's folder makes it happen once.
"""

import argparse
import json
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from appliance.server.config import ServerConfig
from appliance.server.control import (
    COMMANDS,
    ENCODER,
    Answer,
    Command,
    Discard,
    Hold,
    Leave,
    Prepare,
    Release,
    Retire,
    Standby,
    Switch,
    Tell,
)


def engine_path(config: ServerConfig) -> str:
    return config.engine_addresses[0].removeprefix("ipc://")


def engine_answers(config: ServerConfig) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(engine_path(config)) == 0


class Server:
    def __init__(self, config: ServerConfig) -> None:
        self.config, self.candidate = config, config
        self.facts = config.reload
        self.held: Hold | None = None
        self.standby: Standby | None = None
        self.changed = threading.Condition()
        self.commands: list[str] = []
        self.busy = 0

    def listen(self) -> None:
        for line in sys.stdin:
            command = COMMANDS.decode(line)
            with self.changed:
                self.commands.append(type(command).__name__)
                answer = self.obey(command)
                self.changed.notify_all()
            sys.stdout.write(ENCODER.encode(answer).decode() + "\n")
            sys.stdout.flush()

    def obey(self, command: Command) -> Answer:
        number = command.reference
        match command:
            case Prepare(config=config, probe=probe):
                dies(config, "dies-in-proof")
                if "unprovable" in config.served_names or (probe and not engine_answers(config)):
                    return Answer(reference=number, error="chat: no token came")
                self.candidate = config
                return Answer(reference=number, proof={"chat": "1 token"})
            case Switch():
                dies(self.candidate, "dies-in-switch")
                self.config, self.held = self.candidate, None
            case Discard():
                self.candidate = self.config
            case Hold():
                self.held = command
            case Standby():
                self.standby = command
            case Release():
                self.held = self.standby = None
            case Leave():
                os.kill(os.getpid(), signal.SIGTERM)
            case Tell(reload=facts):
                self.facts = facts
            case Retire(carry=carry, seconds=seconds):
                self.changed.wait_for(lambda: not self.busy, seconds)
                return Answer(reference=number, carried=int(carry))
        return Answer(reference=number)

    def work(self) -> int:
        """Asked again, as by the real server, where the engine went meanwhile and another may come to serve."""
        while True:
            with self.changed:
                if self.held and not self.changed.wait_for(lambda: self.held is None, self.held.seconds):
                    return 503
                config = self.config
                standby = self.standby
                if standby and not self.changed.wait_for(lambda: engine_answers(self.config), standby.seconds):
                    return 503
            if engine_answers(config):
                return 200
            with self.changed:
                if self.standby is None and self.held is None and config is self.config:
                    return 503

    def answer(self, seconds: float) -> int:
        with self.changed:
            self.busy += 1
            config = self.config
        ended = time.monotonic() + seconds
        try:
            while time.monotonic() < ended:
                if not engine_answers(config):
                    return 503
                time.sleep(0.02)
        finally:
            with self.changed:
                self.busy -= 1
                self.changed.notify_all()
        return 200

    def state(self) -> dict[str, Any]:
        config = self.config
        return {
            "revision": config.revision,
            "generation": config.generation,
            "names": config.served_names,
            "queue": config.queue_requests,
            "context": config.max_context,
            "addresses": config.engine_addresses,
            "commands": self.commands,
            "successful": self.facts.last_successful,
            "sync": self.facts.sync,
        }


def dies(config: ServerConfig, how: str) -> None:
    """Once, where the model's folder has a file of that name."""
    once = Path(config.model_path) / how
    if how in config.served_names and once.exists():
        once.unlink()
        os._exit(11)


def make_handler(fake: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            status, body = 200, {}
            if self.path == "/ready":
                ok = engine_answers(fake.config)
                blocked = os.environ.get("FAKE_SERVER") == "endpoint-missing"
                status = 200 if ok and not blocked else 503
                body = {"reason": "systemone: no labels" if blocked else "", "checks": {"engine": {"ok": ok}}}
            elif self.path == "/pids":
                body = {"server": os.getpid(), "engine": int(Path(f"{engine_path(fake.config)}.pid").read_text())}
            elif self.path == "/state":
                body = fake.state()
            elif self.path == "/work":
                status = fake.work()
                body = {"generation": fake.config.generation}
            elif self.path.startswith("/busy?"):
                status = fake.answer(float(self.path.removeprefix("/busy?")))
            elif self.path.startswith("/slow?"):
                time.sleep(float(self.path.removeprefix("/slow?")))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int)
    listener = socket.socket(fileno=parser.parse_known_args()[0].fd)
    import msgspec

    fake = Server(msgspec.json.decode(sys.stdin.readline(), type=ServerConfig))
    threading.Thread(target=fake.listen, daemon=True).start()
    server = ThreadingHTTPServer(listener.getsockname(), make_handler(fake), bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.daemon_threads = False
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    print(json.dumps({"ready": True}), flush=True)
    signal.sigwait({signal.SIGTERM})
    server.shutdown()
    server.server_close()
    os._exit(0)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sys.exit(main())
