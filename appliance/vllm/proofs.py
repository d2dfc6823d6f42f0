"""How a vLLM proves that it works: one real answer of the kind it is there for."""

import io
import wave
from collections.abc import Awaitable, Callable

import httpx

from appliance.vllm.config import Proof

Prove = Callable[[httpx.AsyncClient, str], Awaitable[httpx.Response]]


async def completion(client: httpx.AsyncClient, model: str) -> httpx.Response:
    body = {"model": model, "prompt": "Hi", "max_tokens": 1, "temperature": 0}
    return await client.post("/v1/completions", json=body)


async def embedding(client: httpx.AsyncClient, model: str) -> httpx.Response:
    return await client.post("/v1/embeddings", json={"model": model, "input": "Hi"})


async def classification(client: httpx.AsyncClient, model: str) -> httpx.Response:
    return await client.post("/classify", json={"model": model, "input": "Hi"})


async def transcription(client: httpx.AsyncClient, model: str) -> httpx.Response:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"\0\0" * 8000)
    files = {"file": ("silence.wav", sound.getvalue(), "audio/wav")}
    return await client.post("/v1/audio/transcriptions", data={"model": model}, files=files)


async def health(client: httpx.AsyncClient, model: str) -> httpx.Response:
    return await client.get("/health")


PROOFS: dict[Proof, Prove] = {
    "completion": completion,
    "embedding": embedding,
    "classification": classification,
    "transcription": transcription,
    "health": health,
}
