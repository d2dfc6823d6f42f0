"""The API server process: ServerConfig as the first JSON line on standard input, the listening socket as `--fd N`.

Prints `{"ready": true}` when it accepts, `{"error": text}` with exit code 2 for a known failure. Further lines on
standard input are commands (control.py); that it ends ends nothing.
"""

import argparse
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="appliance.server.main")
    parser.add_argument("--fd", type=int, required=True, help="file descriptor of the listening socket")
    parser.add_argument("--board", type=int, help="file descriptor of the memory several servers share (board.create)")
    parser.add_argument("--servers", type=int, default=1, help="how many servers share it")
    parser.add_argument("--number", type=int, default=0, help="which of them this is, from 0")
    parser.add_argument("--metrics", help="folder in which several servers count together; emptied by who starts them")
    arguments = parser.parse_args()
    if arguments.metrics is not None:
        # read by prometheus_client when it is imported
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = arguments.metrics
    from appliance.server.process import serve

    return serve(arguments.fd, arguments.board, arguments.servers, arguments.number, arguments.metrics)


if __name__ == "__main__":
    sys.exit(main())
