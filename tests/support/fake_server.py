"""A server that knows /ready, /pids and /slow?SECONDS; ready while the fake engine's socket answers. SIGTERM drains."""

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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int)
    listener = socket.socket(fileno=parser.parse_args().fd)
    config = json.loads(sys.stdin.readline())
    path = config["engine_addresses"][0].removeprefix("ipc://")

    def engine_answers() -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(path) == 0

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            status, body = 200, {}
            if self.path == "/ready":
                ok = engine_answers()
                blocked = os.environ.get("FAKE_SERVER") == "endpoint-missing"
                status = 200 if ok and not blocked else 503
                body = {"reason": "systemone: no labels" if blocked else "", "checks": {"engine": {"ok": ok}}}
            elif self.path == "/pids":
                body = {"server": os.getpid(), "engine": int(Path(f"{path}.pid").read_text())}
            elif self.path.startswith("/slow?"):
                time.sleep(float(self.path.removeprefix("/slow?")))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(listener.getsockname(), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.daemon_threads = False
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    print(json.dumps({"ready": True}), flush=True)
    signal.sigwait({signal.SIGTERM})
    server.shutdown()
    server.server_close()
    return 0


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sys.exit(main())
