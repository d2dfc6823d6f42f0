"""The real supervisor over fake children: `python fake_up.py STATE_FOLDER`."""

import asyncio
import sys
from pathlib import Path

from appliance.diagnostics import ApplianceError, Position
from appliance.engine.config import EngineConfig
from appliance.server.config import ServerConfig
from appliance.supervise.folder import StateFolder
from appliance.supervise.listener import listen, url
from appliance.supervise.report import REPORTS
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.supervisor import Supervisor

ENGINE = EngineConfig("", "model", "float32", "float32", 16, 8, 128, 4, 128)
SERVER = ServerConfig("", "model", ("fake",), 128, "fake", "0.32", {}, drain_seconds=5.0)


async def look_again() -> None:
    print("hangup", flush=True)


def main() -> int:
    position = Position("fake.yaml")
    report = REPORTS[sys.argv[2] if len(sys.argv) > 2 else "text"]()
    try:
        with listen("127.0.0.1:0", position) as listener, StateFolder(Path(sys.argv[1]), position) as folder:
            print(url(listener), flush=True)
            policy = RestartPolicy(limit=3, first=0.05)
            modules = {"engine": "fake_engine", "server": "fake_server"}
            supervisor = Supervisor(
                ENGINE, SERVER, listener, folder, report, position, "a hint", look_again, policy=policy, modules=modules
            )
            return asyncio.run(supervisor.run())
    except ApplianceError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
