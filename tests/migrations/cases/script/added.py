import subprocess
import sys

cmd = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", "org/m", "--swap-space", "8"]
if sys.argv[1:]:
    cmd += ["--guided-decoding-backend", "outlines"]
cmd.extend(["--task", "generate"])
names = ["--swap-space", "is a word"]
subprocess.Popen(cmd)
