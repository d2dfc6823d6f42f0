"""An engine that computes nothing and speaks the protocol. How it behaves is in FAKE_ENGINE or in its block size.

"" | refuse | crash | crash-later | hang | slow. It refuses a reconfiguration to 13 sequences, and thinks long about 17.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import msgspec
import zmq

from appliance.engine.config import EngineConfig
from appliance.engine.protocol import ENCODER, TO_ENGINE, Hello, Ready, Reconfigure, Reconfigured

BY_BLOCK_TOKENS = {8: "refuse", 64: "crash", 128: "crash-later", 256: "hang", 24: "slow"}
SLOW_SECONDS = 1.5
SOON_SECONDS = 0.2


def ready(config: EngineConfig) -> Ready:
    return Ready(
        instance=str(os.getpid()),
        generation=config.generation,
        pid=os.getpid(),
        architecture="Fake",
        vocab_size=32,
        max_context=config.max_context,
        max_sequences=config.max_sequences,
        block_tokens=config.block_tokens,
        num_blocks=config.num_blocks,
        kv_dtype=config.kv_dtype,
        weights_fingerprint=f"weights of {config.model_path}",
        boot_stages=[],
    )


def serve(config: EngineConfig, socket: zmq.Socket[bytes]) -> None:
    while True:
        peer, payload = socket.recv_multipart()
        match TO_ENGINE.decode(payload):
            case Hello():
                socket.send_multipart([peer, ENCODER.encode(ready(config))])
            case Reconfigure(reference=reference, settings=settings):
                if settings.get("max_sequences") == 17:
                    time.sleep(SLOW_SECONDS)
                error = "13 is not a number of sequences" if settings.get("max_sequences") == 13 else None
                if error is None:
                    print(f"takes {settings.get('max_sequences')}", file=sys.stderr, flush=True)
                    config = _with(config, settings)
                    socket.send_multipart([peer, ENCODER.encode(ready(config))])
                socket.send_multipart([peer, ENCODER.encode(Reconfigured(reference=reference, error=error))])


def _with(config: EngineConfig, settings: dict[str, bool | int | str]) -> EngineConfig:
    return msgspec.convert(msgspec.to_builtins(config) | settings, EngineConfig)


def main() -> int:
    config = msgspec.json.decode(sys.stdin.readline(), type=EngineConfig)
    mode = os.environ.get("FAKE_ENGINE") or BY_BLOCK_TOKENS.get(config.block_tokens, "")
    print(json.dumps({"stage": "load weights", "seconds": 0.01}), flush=True)
    print("an engine's log line", file=sys.stderr, flush=True)
    if mode == "refuse":
        print(json.dumps({"error": "no such device"}), flush=True)
        return 2
    if mode == "crash":
        return 7
    if mode == "hang":
        signal.sigwait({signal.SIGTERM})
        return 0
    if mode == "slow":
        time.sleep(SLOW_SECONDS)
    path = Path(config.address.removeprefix("ipc://"))
    path.unlink(missing_ok=True)
    socket = zmq.Context().socket(zmq.ROUTER)
    socket.bind(config.address)
    Path(f"{path}.pid").write_text(str(os.getpid()))
    threading.Thread(target=serve, args=(config, socket), daemon=True).start()
    print(json.dumps({"ready": True}), flush=True)
    if mode == "crash-later":
        time.sleep(SOON_SECONDS)
        os._exit(9)
    signal.sigwait({signal.SIGTERM})
    os._exit(0)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sys.exit(main())
