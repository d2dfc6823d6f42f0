"""The API server process: ServerConfig as one JSON line on standard input, the listening socket as `--fd N`.

Prints `{"ready": true}` when it accepts, `{"error": text}` with exit code 2 for a known failure.
"""

import argparse
import socket
import sys

import msgspec

from appliance.engine import logs
from appliance.engine.client import EngineClient
from appliance.engine.tokenizer import TokenizerError, load
from appliance.server import auth
from appliance.server.admission import Admission
from appliance.server.app import build_app
from appliance.server.config import ServerConfig
from appliance.server.context import Context
from appliance.server.metrics import Metrics
from appliance.server.pulse import Pulse
from appliance.server.readiness import Readiness
from appliance.server.serving import DrainingServer


def make_context(config: ServerConfig) -> Context:
    """Raises TokenizerError."""
    tokenizer = load(config.model_path, chat_template=config.chat_template)
    engine = EngineClient(config.engine_addresses[0])
    admission = Admission(config.queue_requests, config.queue_tokens)
    metrics = Metrics(config)
    metrics.watch(lambda: engine.stats, lambda: engine.ready, admission)
    pulse = Pulse(engine, admission)
    return Context(config, engine, tokenizer, admission, metrics, pulse, Readiness())


def say(message: dict[str, object]) -> None:
    sys.stdout.write(msgspec.json.encode(message).decode() + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="appliance.server.main")
    parser.add_argument("--fd", type=int, required=True, help="file descriptor of the listening socket")
    arguments = parser.parse_args()
    config = msgspec.json.decode(sys.stdin.readline(), type=ServerConfig)
    logs.configure(config.log_level, config.log_format)
    try:
        context = make_context(config)
        app = build_app(context, auth.read_keys(config.api_keys))
    except (TokenizerError, auth.KeyMissingError) as error:
        say({"error": str(error)})
        return 2
    listener = socket.socket(fileno=arguments.fd)
    listener.setblocking(False)
    DrainingServer(app, context, lambda: say({"ready": True})).run([listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
