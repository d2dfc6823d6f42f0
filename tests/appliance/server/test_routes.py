"""The endpoint table is the running app, and answers to wrong methods and switched-off routes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from appliance.server.app import build_routes
from appliance.server.board import Board
from appliance.server.config import ServerConfig
from appliance.server.endpoints import ENDPOINTS, Endpoint
from appliance.server.native import build
from appliance.server.shared import make_shared


def test_the_app_has_the_routes_of_the_table_and_no_other(model: Path) -> None:
    config = ServerConfig(
        engine_addresses=("ipc://nowhere",),
        model_path=str(model),
        served_names=("bytes",),
        max_context=256,
        profile_name="test",
        release="0.32",
        endpoints={},
    )

    async def routes() -> FastAPI:
        shared = make_shared(config, Board.alone(), None)
        state = await build(config, shared, None)
        await state.close()
        await shared.pool.close()
        return build_routes(state.context)

    app = asyncio.run(routes())
    assert {(route.path, frozenset(route.methods)) for route in app.routes if isinstance(route, APIRoute)} == {
        (endpoint.path, frozenset(endpoint.methods)) for endpoint in ENDPOINTS
    }
    assert len(app.routes) == len(ENDPOINTS)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_every_line_of_the_table_is_served_with_its_methods_only(server: Any, endpoint: Endpoint) -> None:
    path = endpoint.path.replace("{model:path}", "bytes")
    if endpoint.switch == "systemone":
        assert server.http.post(path, json={}).status_code == 404
        return
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"):
        answer = server.http.request(method, path)
        assert answer.status_code != 404
        assert (answer.status_code == 405) == (method not in endpoint.methods), method
    if "POST" in endpoint.methods:
        refused = server.http.get(path)
        assert refused.headers["allow"] == "POST"
        assert refused.json()["error"]["type"] == "MethodNotAllowedError"


def test_a_route_is_nowhere_else(server: Any) -> None:
    for path in ("/docs", "/redoc", "/openapi.json", "/v1/models/", "/v1/chat/completions/", "/nothing"):
        answer = server.http.get(path)
        assert answer.status_code == 404, path
        assert answer.json()["error"]["code"] == 404


def test_a_switched_off_endpoint_is_not_there(boot: Any) -> None:
    server = boot(endpoints={"chat": "off", "metrics": "off", "systemone": "off"}, boot_engine=False)
    assert server.http.post("/v1/chat/completions", json={}).status_code == 404
    assert server.http.get("/metrics").status_code == 404
    assert server.http.post("/v1/completions", json={}).status_code == 503


def test_models(server: Any) -> None:
    cards = server.openai.models.list().data
    assert [(card.id, card.max_model_len) for card in cards] == [("bytes", 256), ("alias", 256)]
    assert server.openai.models.retrieve("alias").id == "alias"
    assert server.http.get("/v1/models/other").status_code == 404


def test_version(server: Any) -> None:
    assert server.http.get("/version").json()["release"] == "0.32"


def test_tokenize_and_back(server: Any) -> None:
    answer = server.http.post("/tokenize", json={"prompt": "hé", "return_token_strs": True}).json()
    assert answer == {"count": 3, "max_model_len": 256, "tokens": [104, 195, 169], "token_strs": ["h", "Ã", "©"]}
    assert server.http.post("/detokenize", json={"tokens": answer["tokens"]}).json() == {"prompt": "hé"}
    chat = {"messages": [{"role": "user", "content": "x"}], "add_generation_prompt": False}
    assert bytes(server.http.post("/tokenize", json=chat).json()["tokens"]) == b"u:x\n"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tokenize", {}),
        ("/tokenize", {"prompt": "x", "messages": []}),
        ("/tokenize", {"prompt": 5}),
        ("/tokenize", {"messages": []}),
        ("/tokenize", {"prompt": "x", "add_special_tokens": "yes"}),
        ("/detokenize", {}),
        ("/detokenize", {"tokens": [260]}),
        ("/detokenize", {"tokens": [-1]}),
        ("/detokenize", {"tokens": ["a"]}),
        ("/detokenize", {"tokens": [10**30]}),
    ],
)
def test_tokenizing_refuses_what_it_cannot_read(server: Any, path: str, body: dict[str, Any]) -> None:
    assert server.http.post(path, json=body).status_code == 400
    assert server.http.post(path, json={**body, "model": "other"}).status_code in (400, 404)
