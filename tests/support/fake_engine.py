"""An engine that does nothing, quickly. FAKE_ENGINE says how it behaves: "" | refuse | crash | crash-later."""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

MODE = os.environ.get("FAKE_ENGINE", "")


def main() -> int:
    config = json.loads(sys.stdin.readline())
    print(json.dumps({"stage": "load weights", "seconds": 0.01}), flush=True)
    print("an engine's log line", file=sys.stderr, flush=True)
    if MODE == "refuse":
        print(json.dumps({"error": "no such device"}), flush=True)
        return 2
    if MODE == "crash":
        return 7
    path = config["address"].removeprefix("ipc://")
    Path(path).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        Path(f"{path}.pid").write_text(str(os.getpid()))
        print(json.dumps({"ready": True}), flush=True)
        if MODE == "crash-later":
            time.sleep(0.2)
            return 9
        signal.sigwait({signal.SIGTERM})
    return 0


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sys.exit(main())
