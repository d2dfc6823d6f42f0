"""What a person is told between two releases, although no text changes."""

import pytest
from migrating import codes, migrate

from appliance.migrations.change import Part


def test_security_remarks_repeat_no_secret() -> None:
    _, changes = migrate("VLLM_API_KEY=sk-very-secret HF_TOKEN=hf_alsosecret m --host 0.0.0.0", "0.32", "0.32")
    assert codes(changes, Part.SECURITY) == ["VM0021", "VM0021", "VM0023"]
    assert "secret" not in " ".join(change.message.replace("a secret stands", "") for change in changes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m --api-key ''", ["VM0022", "VM0023"]),
        ("m --host 0.0.0.0", ["VM0024"]),
        ("m --host 127.0.0.1", []),
        ("VLLM_SERVER_DEV_MODE=1 m", ["VM0025"]),
        ("VLLM_SERVER_DEV_MODE=0 m", []),
        ("VLLM_ALLOW_RUNTIME_LORA_UPDATING=True m", ["VM0026"]),
        ("m --enable-log-requests --enable-log-outputs", ["VM0027"]),
        ("""m --allowed-origins '["*"]'""", ["VM0029"]),
        ("""m --allowed-origins '["https://a.example"]'""", []),
        ("VLLM_API_KEY='${KEY}' m", ["VM0023"]),
    ],
)
def test_security_remarks(text: str, expected: list[str]) -> None:
    assert codes(migrate(text, "0.32", "0.32")[1], Part.SECURITY) == expected


def test_cors_of_an_old_target_is_remarked() -> None:
    assert "VM0029" in codes(migrate("m", "0.31", "0.31")[1], Part.SECURITY)


def test_behaviour_between_two_releases_only() -> None:
    assert "VM3221" in codes(migrate("m", "0.31", "0.32")[1], Part.BEHAVIOUR)
    assert "VM3221" not in codes(migrate("m", "0.32", "0.33")[1])
    assert "VM3220" not in codes(migrate("""m --allowed-origins '["https://a"]'""", "0.31", "0.32")[1])


def test_glm5_is_told_about_its_cache() -> None:
    assert "VM3226" in codes(migrate("zai-org/GLM-5.1", "0.31", "0.32", "zai-org/GLM-5.1")[1], Part.BEHAVIOUR)
    assert "VM3226" not in codes(migrate("zai-org/GLM-4.6", "0.31", "0.32", "zai-org/GLM-4.6")[1])
