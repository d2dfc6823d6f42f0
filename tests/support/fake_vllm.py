"""A `vllm` that needs no model: `python fake_vllm.py serve MODEL ... --uds PATH`. FAKE_VLLM names its mode.

works | error | hang | refuses (answers, and not with tokens) | dies:N (after N requests) | deaf (ignores SIGTERM) |
speech (transcribes too)
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

CONTEXT = 64
MOST_ENGINES = 4


class State:
    def __init__(self, names: list[str], mode: str) -> None:
        self.names, self.mode = names, mode
        self.seen: list[dict[str, Any]] = []
        self.aborted = 0
        self.released = asyncio.Event()
        """Ends every `wait`."""
        self.adapters: dict[str, str] = {}
        self.said: dict[str, str] = {}
        """What each adapter answers: what its folder held when it was loaded."""
        self.engines = 1
        self.scaling = False


def content_of(body: dict[str, Any]) -> str:
    if "messages" in body:
        return " ".join(str(message["content"]) for message in body["messages"])
    return str(body.get("prompt", ""))


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def make_app(state: State) -> Starlette:
    async def note(request: Request) -> dict[str, Any]:
        body = await request.json() if request.method == "POST" else {}
        state.seen.append({"path": request.url.path, "body": body, "headers": dict(request.headers)})
        if state.mode.startswith("dies:") and len(state.seen) > int(state.mode.removeprefix("dies:")):
            os.kill(os.getpid(), signal.SIGKILL)
        return body

    async def answer(request: Request) -> Response:
        body = await note(request)
        if state.scaling:
            return JSONResponse({"error": {"message": "currently scaling", "code": 503}}, 503)
        if state.mode == "refuses":
            return JSONResponse({"error": {"message": "the fake refuses", "code": 400}}, 400)
        model = body.get("model", state.names[0])
        if model not in (*state.names, *state.adapters):
            return JSONResponse({"error": {"message": f"The model `{model}` does not exist.", "code": 404}}, 404)
        chat = "messages" in body
        if body.get("stream"):
            return StreamingResponse(stream(body, chat), media_type="text/event-stream", headers={"X-Own": "fake"})
        if content_of(body).startswith("wait"):
            while not state.released.is_set():
                if await request.is_disconnected():
                    state.aborted += 1
                    return Response(status_code=499)
                await asyncio.sleep(0.02)
        said = state.said.get(model, "yes")
        text: dict[str, Any] = {"message": {"role": "assistant", "content": said}} if chat else {"text": said}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "finish_reason": "length", **text}
        return JSONResponse({"id": "x", "model": model, "choices": [choice], "usage": usage})

    async def stream(body: dict[str, Any], chat: bool) -> Any:
        words = content_of(body)
        count = int(words.split()[1]) if words.startswith("count") else 3
        ended = False
        try:
            for number in range(count):
                delta = {"delta": {"content": f"{number} "}} if chat else {"text": f"{number} "}
                event = {"model": body.get("model"), "choices": [{"index": 0, **delta}]}
                for piece in pieces(f"data: {json.dumps(event)}\n\n", 5 if words.startswith("pieces") else 10_000):
                    yield piece
                    await asyncio.sleep(0.02)
                if words.startswith("die"):
                    os.kill(os.getpid(), signal.SIGKILL)
            ended = True
            yield "data: [DONE]\n\n"
        finally:
            state.aborted += not ended

    async def decide(request: Request) -> Response:
        await note(request)
        return JSONResponse({"object": "structured_decision", "answers": {"ready": {"noul": 0.5}}})

    async def tokenize(request: Request) -> Response:
        words = content_of(await note(request)).split()
        return JSONResponse({"count": len(words), "max_model_len": CONTEXT, "tokens": list(range(len(words)))})

    async def transcribe(request: Request) -> Response:
        form = (await request.body()).split(b'name="model"\r\n\r\n')[1]
        model = form.split(b"\r\n")[0].decode()
        return JSONResponse({"text": state.said[model], "model": model})

    async def models(request: Request) -> Response:
        cards = [{"id": name, "object": "model", "max_model_len": CONTEXT, "parent": None} for name in state.names]
        cards += [
            {"id": name, "object": "model", "root": folder, "parent": state.names[0]}
            for name, folder in state.adapters.items()
        ]
        return JSONResponse({"object": "list", "data": cards})

    async def metrics(request: Request) -> Response:
        labels = f'engine="0",model_name="{state.names[0]}"'
        running = [labels.replace("0", str(number), 1) for number in range(state.engines)]
        return PlainTextResponse(
            "# HELP vllm:num_requests_running Running.\n# TYPE vllm:num_requests_running gauge\n"
            + "".join(f"vllm:num_requests_running{{{each}}} 1.0\n" for each in running)
            + "# HELP vllm:generation_tokens_total Tokens.\n# TYPE vllm:generation_tokens_total counter\n"
            f"vllm:generation_tokens_total{{{labels}}} 7.0\n"
            "# HELP python_info Python.\n# TYPE python_info gauge\npython_info 1.0\n"
        )

    async def load(request: Request) -> Response:
        body = await note(request)
        name, folder = body["lora_name"], Path(body["lora_path"])
        if not folder.exists():
            return JSONResponse({"error": {"message": f"no adapter at {folder}", "code": 404}}, 404)
        if name in state.adapters:
            return JSONResponse({"error": {"message": f"{name} has already been loaded", "code": 400}}, 400)
        state.adapters[name] = str(folder)
        state.said[name] = (folder / "adapter_config.json").read_text()
        return PlainTextResponse("Success")

    async def unload(request: Request) -> Response:
        state.adapters.pop((await note(request))["lora_name"], None)
        return PlainTextResponse("Success")

    async def scale(request: Request) -> Response:
        size = (await request.json())["new_data_parallel_size"]
        if size > MOST_ENGINES:
            return JSONResponse({"error": f"{size} is over the most, {MOST_ENGINES}"}, 400)
        state.scaling = True
        await asyncio.sleep(0.5)
        state.engines, state.scaling = size, False
        return JSONResponse({"message": f"Scaled to {size} data parallel engines"})

    async def release(request: Request) -> Response:
        state.released.set()
        return Response()

    async def forget(request: Request) -> Response:
        state.seen.clear()
        return Response()

    async def fake(request: Request) -> Response:
        return JSONResponse(
            {"seen": state.seen, "aborted": state.aborted, "adapters": state.adapters, "engines": state.engines}
        )

    async def fine(request: Request) -> Response:
        return Response()

    async def version(request: Request) -> Response:
        return JSONResponse({"version": "0.32.0"})

    posts = {"/tokenize": tokenize, "/detokenize": answer, "/v1/systemone": decide, "/invocations": answer}
    posts |= {
        f"/v1/{name}": answer for name in ("completions", "chat/completions", "responses", "messages", "embeddings")
    }
    posts |= {"/v1/load_lora_adapter": load, "/v1/unload_lora_adapter": unload, "/sleep": fine}
    posts |= {"/scale_elastic_ep": scale, "/fake/release": release, "/fake/forget": forget}
    posts |= {"/v1/audio/transcriptions": transcribe} if state.mode == "speech" else {}
    gets = {"/health": fine, "/v1/models": models, "/metrics": metrics, "/version": version, "/fake": fake}
    return Starlette(
        routes=[
            *(Route(path, handler, methods=["POST"]) for path, handler in posts.items()),
            *(Route(path, handler, methods=["GET"]) for path, handler in gets.items()),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("serve")
    parser.add_argument("model")
    parser.add_argument("--uds")
    parser.add_argument("--served-model-name", nargs="+")
    known, _ = parser.parse_known_args()
    mode = os.environ.get("FAKE_VLLM", "works")
    folder = Path(known.uds).parent
    core = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(core, start_new_session=True)
    own = {name: value for name, value in os.environ.items() if name.startswith(("VLLM_", "FAKE_", "CUDA_"))}
    told = {"pid": os.getpid(), "core": child.pid, "argv": sys.argv[1:], "environment": own}
    part = folder / f"{Path(known.uds).name}.part"
    part.write_text(json.dumps(told))
    part.replace(folder / f"{Path(known.uds).name}.told")
    print("(EngineCore pid=7) INFO 11-30 17:44:58 [fake.py:1] booting", flush=True)
    if mode == "error":
        print("(EngineCore pid=7) ERROR 11-30 17:44:58 [core.py:9] ValueError: no room for the KV cache", flush=True)
        print("(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above.", flush=True)
        sys.exit(1)
    if mode == "hang":
        time.sleep(600)
    config = uvicorn.Config(make_app(State(known.served_model_name, mode)), uds=known.uds, log_level="warning")
    server = uvicorn.Server(config)
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        asyncio.run(server._serve())
    else:
        server.run()


if __name__ == "__main__":
    main()
