"""Which files of a profile are watched, and that a coarse clock hides no save."""

from pathlib import Path

from appliance.profile import load
from appliance.supervise.watch import watched_files
from appliance.supervise.watch.change import look

TEXT = """\
schema: 1
name: watched
release: "0.32"
model: {source: ./model, chat_template: chat.jinja, adapters: [{name: a, source: a}, {name: b, source: 'hf:x/b'}]}
security:
  api_keys: [{env: A_KEY}, {file: key}, {file: /run/secrets/other}]
  tls: {cert: tls.crt, key: tls.key}
"""


def test_profile_template_and_secrets(tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(TEXT)
    _, profile, findings = load(str(file))
    assert profile, findings
    assert watched_files(file, profile) == {
        file: "file",
        tmp_path / "chat.jinja": "file",
        tmp_path / "a/adapter_config.json": "file",
        tmp_path / "a/adapter_model.safetensors": "file",
        tmp_path / "key": "secret",
        Path("/run/secrets/other"): "secret",
        tmp_path / "tls.crt": "secret",
        tmp_path / "tls.key": "secret",
    }


def test_without_a_valid_profile_its_file_alone(tmp_path: Path) -> None:
    assert watched_files(tmp_path / "broken.yaml", None) == {tmp_path / "broken.yaml": "file"}


def test_equal_size_within_one_tick_of_the_clock(tmp_path: Path) -> None:
    file = tmp_path / "key"
    for number in range(50):
        file.write_text(f"{number:02}")
        before = look(file)
        file.write_text(f"{99 - number:02}")
        assert look(file, before).digest != before.digest
