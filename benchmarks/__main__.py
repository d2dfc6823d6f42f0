"""Every benchmark: `python benchmarks [--vllm VENV/bin/vllm]`. Without vLLM its rows are left out, and said so."""

import decision_speed
import engine_speed
import http_speed
import start_speed
from options import parse
from table import publish

options = parse(__doc__ or "")
publish("start", start_speed.run(options))
publish("engine", engine_speed.run(options))
if options.vllm is None:
    print("left out: http, decisions (no --vllm; benchmarks/setup_vllm.sh DIR makes one)")
else:
    publish("http", http_speed.run(options))
    publish("decisions", decision_speed.run(options))
