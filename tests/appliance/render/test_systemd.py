"""`render systemd`: a unit that systemd reads as it is meant."""

import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from render_inputs import Make, profile_text, rendered

from appliance.diagnostics import ApplianceError, Severity
from appliance.render.systemd import PROGRAM

Unit = dict[str, dict[str, list[str]]]
KNOWN = {
    "Unit": {"Description", "Wants", "After", "StartLimitIntervalSec", "StartLimitBurst"},
    "Install": {"WantedBy"},
}


def parse(text: str) -> Unit:
    """Section -> key -> values. Nothing but comments, blank lines, [Sections] and Key=value."""
    found: Unit = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        assert line.isprintable() and not line.endswith("\\")
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), defaultdict(list))
            continue
        key, equals, value = line.partition("=")
        assert equals and key.isalpha() and value == value.strip()
        section[key].append(value)
    return found


def test_sections_and_life(make: Make) -> None:
    unit = parse(rendered("systemd", make(profile_text("reload: {drain: 90s}\n"))).text)
    assert list(unit) == ["Unit", "Service", "Install"]
    assert all(set(unit[section]) <= keys for section, keys in KNOWN.items())
    service = unit["Service"]
    assert shlex.split(service["ExecStart"][0])[:3] == [PROGRAM, "up", "/etc/appliance/triage.yaml"]
    assert service["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert int(service["TimeoutStopSec"][0]) > 90
    assert service["StateDirectory"] == service["CacheDirectory"] == ["appliance/triage"]
    assert service["DynamicUser"] == service["NoNewPrivileges"] == ["yes"]
    assert service["ProtectSystem"] == ["strict"]
    assert service["CapabilityBoundingSet"] == [""]


def test_systemd_itself_reads_it(make: Make, tmp_path: Path) -> None:
    """With a program that exists here; where the machine has no systemd, the parser above has to do."""
    text = rendered("systemd", make(profile_text())).text
    parse(text)
    if analyze := shutil.which("systemd-analyze"):
        unit = tmp_path / "triage.service"
        unit.write_text(text.replace(PROGRAM, sys.executable))
        ran = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
        assert "triage.service" not in ran.stderr, ran.stderr


def test_key_files_are_credentials(make: Make) -> None:
    text = profile_text("security: {api_keys: [{file: /run/credentials/triage.service/main}]}\n")
    made = rendered("systemd", make(text))
    assert parse(made.text)["Service"]["LoadCredential"] == ["main:/etc/appliance/keys/main"]
    assert not [remark for remark in made.remarks if remark.severity is Severity.WARNING]


def test_a_key_file_that_the_unit_could_not_read_is_told(make: Make) -> None:
    (told,) = [remark for remark in rendered("systemd", make(profile_text())).remarks if remark.code == "AP0810"]
    assert told.severity is Severity.WARNING and "/run/credentials/triage.service/main" in told.fix


def test_two_keys_cannot_be_one_credential(make: Make) -> None:
    with pytest.raises(ApplianceError, match="one credential, main"):
        rendered("systemd", make(profile_text("security: {api_keys: [{file: /a/main}, {file: /b/main}]}\n")))


def test_variables_come_from_a_file(make: Make) -> None:
    made = rendered("systemd", make(profile_text(), environ={"APPLIANCE_KEY": "SENTINEL"}))
    assert parse(made.text)["Service"]["EnvironmentFile"] == ["-/etc/appliance/triage.env"]
    assert any("APPLIANCE_KEY" in remark.message for remark in made.remarks)


def test_low_ports_and_devices_open_only_what_they_need(make: Make) -> None:
    low = parse(rendered("systemd", make(profile_text("security: {bind: '127.0.0.1:443'}\n"))).text)["Service"]
    assert low["CapabilityBoundingSet"] == low["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    assert low["PrivateDevices"] == ["yes"]
    nvidia = parse(rendered("systemd", make(profile_text(), hardware="h100x8")).text)["Service"]
    assert nvidia["PrivateDevices"] == ["no"]
    assert all(device.endswith(" rw") and "nvidia" in device for device in nvidia["DeviceAllow"])


def test_percent_signs_are_no_specifiers(make: Make) -> None:
    made = rendered("systemd", make(profile_text("security: {api_keys: [{file: /keys/100%h}]}\n")))
    assert parse(made.text)["Service"]["LoadCredential"] == ["100-h:/keys/100%%h"]


def test_a_model_in_a_home_stays_readable(make: Make) -> None:
    service = parse(rendered("systemd", make(profile_text(source="/home/me/model"))).text)["Service"]
    assert service["ProtectHome"] == ["read-only"]
    remarks = rendered("systemd", make(profile_text(source="models/x"))).remarks
    assert any(remark.code == "AP0804" and "models/x" in remark.message for remark in remarks)


@pytest.mark.parametrize(
    "options", [{"image": "x:1"}, {"namespace": "x"}, {"replicas": 2}, {"monitor": True}], ids=lambda x: next(iter(x))
)
def test_what_a_unit_lacks_is_refused(make: Make, options: Any) -> None:
    with pytest.raises(ApplianceError, match=f"AP0806 error --{next(iter(options))}"):
        rendered("systemd", make(profile_text()), **options)
