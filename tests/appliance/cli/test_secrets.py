"""No secret that somebody wrote into a file by mistake is repeated, in any format."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.profile.spoken import spoken

SECRET = "sk-d41d8cd98f00b204"
HEAD = 'schema: 1\nname: triage\nrelease: "0.32"\nmodel: {source: hf:a/b}\n'
WRITTEN = {
    "item": f"security:\n  api_keys:\n    - {SECRET}\n",
    "flow": f"security: {{api_keys: [{SECRET}, 5], bindd: x}}\n",
    "alone": f"security: {{api_keys: {SECRET}}}\n",
    "mapping": f"security:\n  api_keys:\n    - key: {SECRET}\n",
    "environment name": f"security:\n  api_keys:\n    - env: {SECRET}\n",
    "wrong kind": f"security:\n  api_keys:\n    - file: [{SECRET}]\n",
    "reference": "security:\n  api_keys:\n    - ${LEAKED}\n",
    "unknown key": f"security:\n  api_key: {SECRET}\n",
    "token": f"model_token: {SECRET}\n",
    "broken text": f"security:\n  api_keys:\n    - {SECRET}: b: c\n",
    "broken quote": f'security:\n  api_keys:\n    - "{SECRET}\n',
    "after a good one": f"security:\n  api_keys:\n    - env: KEY\n    - {SECRET}\n",
    "twice": f"security:\n  api_keys: [a]\n  api_keys: [{SECRET}]\n",
    "source": f"hardware: {{arch: 'https://me:{SECRET}@example.org/x'}}\n",
    "value of another field": f"kv_cache: {{dtype: {SECRET}}}\n",
    "repository": f"gitops: {{repo: 'https://me:{SECRET}@example.org/x', path: p.yaml}}\n",
    "repository of the wrong kind": f"gitops:\n  repo: ['https://me:{SECRET}@example.org/x']\n  path: p.yaml\n",
}


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize("lines", WRITTEN.values(), ids=WRITTEN)
def test_is_not_repeated(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, lines: str, form: str) -> None:
    monkeypatch.setenv("LEAKED", SECRET)
    Path("p.yaml").write_text(HEAD + lines)
    ran = run("validate", "--offline", "--format", form, "p.yaml")
    assert ran.code == 1
    assert SECRET not in ran.out + ran.err
    assert "p.yaml" in ran.out


def test_names_of_keys_are_shown(run: Callable[..., Any]) -> None:
    Path("p.yaml").write_text(HEAD + "security:\n  api_keys:\n    - env: NO_SUCH_KEY_HERE\n")
    out = run("validate", "p.yaml").out
    assert "     7 │     - env: NO_SUCH_KEY_HERE\n" in out


FOREIGN = {
    "compose.yaml": """services:
  a:
    image: vllm/vllm-openai:v0.8.5
    command: ["--model", "m", "--api-key", "SECRET", "--swap-space", "4"]
  b:
    image: vllm/vllm-openai:v0.8.5
    command: >
      --model m --api-key SECRET SECRET
      --hf-token='SECRET' --swap-space 4
    environment:
    - HF_TOKEN=SECRET
    - VLLM_USE_V1=0
""",
    "pod.yaml": """apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  containers:
  - image: vllm/vllm-openai:v0.8.5
    args: ["--model", "m"]
    env:
    - {name: HF_TOKEN, value: SECRET}
    - {name: "VLLM_API_KEY", "value": "SECRET"}
""",
    "run.sh": "vllm serve m --api-key 'SECRET SECRET' SECRET --swap-space 4\n",
    "Dockerfile": 'FROM vllm/vllm-openai:v0.8.5\nCMD ["--model", "m", "--api-key", "SECRET", "--swap-space", "4"]\n',
}


@pytest.mark.parametrize("asked", ["validate", "migrate", "migrate --as profile"])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_key_on_a_command_line_is_not_repeated(run: Callable[..., Any], name: str, asked: str) -> None:
    Path(name).write_text(FOREIGN[name].replace("SECRET", "hunter2hunter2"))
    ran = run(*asked.split(), name)
    assert "hunter2" not in ran.out + ran.err
    assert "api-key" in (ran.out + ran.err).lower() or "API_KEY" in ran.out + ran.err


def test_what_stands_beside_a_secret_is_shown(run: Callable[..., Any]) -> None:
    Path("compose.yaml").write_text(FOREIGN["compose.yaml"])
    out = run("validate", "compose.yaml").out
    line = '     4 │     command: ["--model", "m", "--api-key", [•••], "--swap-space", "4"]\n'
    assert line + "       │ " + " " * 51 + "^" * 13 + "\n" in out
    assert "    12 │     - VLLM_USE_V1=0\n" in out


def test_a_reference_and_a_number_of_tokens_are_no_secret(run: Callable[..., Any]) -> None:
    Path("run.sh").write_text('vllm serve m --api-key "$KEY" --max-num-batched-tokens 8192 --swap-space 4\n')
    assert (
        '     1 │ vllm serve m --api-key "$KEY" --max-num-batched-tokens 8192 --swap' in run("validate", "run.sh").out
    )


@pytest.mark.parametrize("part", ["-", "--token", " --api-key ", "name: ", "a, "])
def test_a_long_line_is_read_once(part: str) -> None:
    assert len(list(spoken("--api-key " + part * (50_000 // len(part))))) < 100_000
