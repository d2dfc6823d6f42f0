"""Chat over HTTP at 1, 8 and 32 clients: the appliance and vLLM's CPU server on the same weights."""

from beside_vllm import beside_vllm
from models import smollm2_folder
from options import Options, parse
from table import Row, publish
from traffic import chat

CELLS = ((1, 2), (8, 16), (32, 64))


def run(options: Options) -> list[Row]:
    send = chat(tokens=64, prompt_words=210)
    work = "chat, 300-token prompts, 64 out"
    return beside_vllm(options, smollm2_folder(options.workdir), send, CELLS, work, "tok/s")


if __name__ == "__main__":
    publish("http", run(parse(__doc__)))
