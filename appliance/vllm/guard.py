"""Stands between the child that the supervisor knows and vLLM: `python -m appliance.vllm.guard SECONDS COMMAND...`.

Its standard input is its lifeline. A line there, or SIGTERM, ends vLLM gracefully within SECONDS; its end, which is
what a killed parent leaves too, ends vLLM at once. In every case nothing that vLLM started is left when the guard
exits, with vLLM's own exit code.
"""

import os
import select
import signal
import subprocess
import sys
import time

from appliance.child import die_with_parent
from appliance.vllm.descendants import adopt_orphans, kill_descendants

POLL_SECONDS = 0.05


def main() -> int:
    seconds, command = float(sys.argv[1]), sys.argv[2:]
    adopt_orphans()
    terminated = False

    def terminate(number: int, frame: object) -> None:
        nonlocal terminated
        terminated = True

    signal.signal(signal.SIGTERM, terminate)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        vllm = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_parent())
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    lifeline, deadline = sys.stdin.fileno(), 0.0
    try:
        while vllm.poll() is None:
            if select.select([lifeline], [], [], POLL_SECONDS)[0]:
                if not os.read(lifeline, 4096):
                    return 1
                terminated = True
            if terminated and not deadline:
                deadline = time.monotonic() + seconds
                vllm.terminate()
            if deadline and time.monotonic() > deadline:
                return 1
        return vllm.returncode if vllm.returncode >= 0 else 128 - vllm.returncode
    finally:
        kill_descendants()


if __name__ == "__main__":
    sys.exit(main())
