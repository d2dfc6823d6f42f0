"""API keys guard every route, known or not, however its path is spelled."""

import http.client
import os
from pathlib import Path
from typing import Any

import pytest

from appliance.server.endpoints import ENDPOINTS

KEY = "sk-first-key"
OPEN = {"/health", "/ready", "/metrics"}


@pytest.fixture(scope="module")
def guarded(model: Path, tmp_path_factory: pytest.TempPathFactory, launcher: Any) -> Any:
    second = tmp_path_factory.mktemp("key") / "key"
    second.write_text("sk-second-key\nof which this line is no part\n")
    keys = [{"env": "TEST_KEY"}, {"file": str(second)}]
    origins = ["https://app.example"]
    with launcher(
        model, api_keys=keys, cors_origins=origins, environment={"TEST_KEY": KEY}, log_level="debug"
    ) as server:
        yield server


def status(server: Any, method: str, target: str, headers: dict[str, str] | None = None) -> int:
    """The path exactly as written: other clients tidy it up."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, target, headers=headers or {})
        return connection.getresponse().status
    finally:
        connection.close()


def spellings(path: str) -> list[str]:
    return [
        path,
        path + "/",
        "/" + path,
        path.replace("/", "//"),
        path.replace("o", "%6f"),
        path + "?x=1",
        path.upper(),
    ]


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_no_route_answers_without_a_key(guarded: Any, endpoint: Any, method: str) -> None:
    for target in spellings(endpoint.path.replace("{model:path}", "bytes")):
        seen = status(guarded, method, target)
        decoded = target.split("?")[0].replace("%6f", "o")
        assert (seen == 401) == (decoded not in OPEN), f"{method} {target}: {seen}"


@pytest.mark.parametrize(
    "target",
    ["/", "/docs", "/redoc", "/openapi.json", "/nothing", "/v1/../metrics/x", "/health/..", "/%2e%2e/health", "*"],
)
def test_unknown_paths_are_401_before_404(guarded: Any, target: str) -> None:
    assert status(guarded, "GET", target) == 401
    assert status(guarded, "GET", target, {"Authorization": f"Bearer {KEY}"}) == 404


@pytest.mark.parametrize("value", [f"Bearer {KEY}", f"bearer {KEY}", f"Bearer  {KEY} ", "Bearer sk-second-key"])
def test_each_key_opens(guarded: Any, value: str) -> None:
    assert status(guarded, "GET", "/v1/models", {"Authorization": value}) == 200


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        KEY,
        f"Basic {KEY}",
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        "Bearer sk-second-key\t\tx",
        "Bearer ÿ",
    ],
)
def test_anything_else_stays_out(guarded: Any, value: str) -> None:
    assert status(guarded, "GET", "/v1/models", {"Authorization": value}) == 401


def test_the_refusal_has_the_error_shape(guarded: Any) -> None:
    answer = guarded.http.get("/v1/models")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (
        answer.json()["error"] | {"type": "AuthenticationError", "param": None, "code": 401} == answer.json()["error"]
    )


def test_metrics_can_be_guarded(boot: Any) -> None:
    server = boot(api_keys=[{"env": "TEST_KEY"}], metrics_open=False, environment={"TEST_KEY": KEY}, boot_engine=False)
    assert server.http.get("/metrics").status_code == 401
    assert server.http.get("/metrics", headers={"Authorization": f"Bearer {KEY}"}).status_code == 200


def test_no_key_and_no_prompt_reaches_the_log(guarded: Any) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    body = {"prompt": "a secret prompt", "surprise": "a secret value", "max_tokens": 3}
    assert guarded.http.post("/v1/completions?token=hidden", json=body, headers=headers).status_code == 200
    assert guarded.http.post("/v1/completions", json={**body, "seed": "x"}, headers=headers).status_code == 400
    log = guarded.until(lambda: "POST /v1/completions 400" in (text := guarded.log.read_text()) and text, "the log")
    assert "surprise" in log
    assert "secret" not in log and "sk-" not in log and "hidden" not in log


def test_a_browser_from_a_listed_origin_gets_in(guarded: Any) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answer = guarded.http.options("/v1/chat/completions", headers={"Origin": "https://app.example", **asks})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "authorization" in answer.headers["access-control-allow-headers"].lower()
    refused = guarded.http.get("/v1/models", headers={"Origin": "https://app.example"})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, "https://app.example")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://app.example.evil.com", "http://app.example", "null"]
)
def test_every_other_origin_gets_nothing(guarded: Any, origin: str) -> None:
    asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    preflight = guarded.http.options("/v1/chat/completions", headers=asks)
    assert "access-control-allow-origin" not in preflight.headers
    assert preflight.status_code == 400
    assert "access-control-allow-origin" not in guarded.http.get("/health", headers={"Origin": origin}).headers


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_without_a_value_is_no_start(start_refused: Any, value: str | None) -> None:
    said = start_refused(api_keys=[{"env": "EMPTY_KEY"}], environment={} if value is None else {"EMPTY_KEY": value})
    assert "EMPTY_KEY" in said and ("is empty" in said or "is not set" in said)


def test_a_key_file_that_is_not_there_is_no_start(start_refused: Any, tmp_path: Path) -> None:
    assert str(tmp_path / "none") in start_refused(api_keys=[{"file": str(tmp_path / "none")}])


def test_a_key_file_that_never_ends_is_no_start(start_refused: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero"):
        assert f"{name} is not a regular file" in start_refused(api_keys=[{"file": name}])


def test_a_model_without_tokenizer_is_no_start(start_refused: Any, tmp_path: Path) -> None:
    assert str(tmp_path) in start_refused(model_path=str(tmp_path))
    assert "none" in start_refused(model_path=str(tmp_path / "none"))
