"""Decisions over HTTP: 7 questions on a 300-token state, random 33 M Qwen3, the appliance and vLLM's CPU server."""

from beside_vllm import beside_vllm
from models import random_qwen3
from options import Options, parse
from table import Row, publish
from traffic import decision

CELLS = ((1, 3), (32, 32))


def run(options: Options) -> list[Row]:
    send = decision(questions=7, state_words=180)
    work = "7 questions, 300-token state"
    return beside_vllm(options, random_qwen3(options.workdir), send, CELLS, work, "decisions/s", target=3.0)


if __name__ == "__main__":
    publish("decisions", run(parse(__doc__)))
