"""What migrate writes is accepted by the parser and the config classes of vLLM 0.32.0."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from argvs import BOOK, argv_of, old_line

from appliance.diagnostics import Severity
from appliance.migrate import Wanted, find, migrate_file
from appliance.migrations.change import Change, Part
from appliance.migrations.dialects import load
from appliance.migrations.example import read_example, rewrite
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import Release
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Room, Rule

TARGET = Release(0, 32)
HERE = Path(__file__).parent
CASES = HERE.parent / "migrations" / "cases"
EXAMPLES = [
    rule for rule in RULES if rule.since <= TARGET and rule.before and rule.target.room in (Room.OPTION, Room.ENV)
]
RELEASES = [release for release in BOOK.releases if release < TARGET]


def _open(change: Change) -> bool:
    """Left to a person, who knows that the engine does not start like this."""
    return change.part is Part.DECISION and change.severity is Severity.ERROR


def _files(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for found in find([str(CASES)]):
        result = migrate_file(found, Wanted(TARGET))
        if result.problem or result.dialect is None or found.path.endswith((".sites", ".migrated")):
            continue
        name = Path(found.path).name
        if result.dialect == "vllm-config" and "${" not in result.new_text:
            copy = folder / name
            copy.write_text(result.new_text)
            named = any(site.name == "model" for site in result.outcomes[0].deployment.sites)
            yield name, [*([] if named else ["model"]), "--config", str(copy)]
        for index, deployment in enumerate(load(result.dialect).read(found.path, result.new_text)):
            if not any(_open(finding.change) for finding in result.outcomes[index].findings):
                yield f"{name}#{index}", argv_of(deployment)


def _migrated(words: str, start: Release | None) -> tuple[list[str], list[Change]]:
    example = read_example(words)
    changes = plan_changes(example.sites, start, TARGET)
    argv = shlex.split(rewrite(example, changes))
    first = next((i for i, word in enumerate(argv) if word.startswith("-") or "=" not in word), len(argv))
    return argv[first:], changes


def _asked(folder: Path) -> dict[str, list[str]]:
    asked = dict(_files(folder))
    for rule in EXAMPLES:
        argv, changes = _migrated(rule.before, None)
        if not any(_open(change) and not change.operations for change in changes):
            asked[rule.code] = argv
    for index, release in enumerate(BOOK.releases):
        if release in RELEASES:
            asked[str(release)] = _migrated(shlex.join(old_line(index)), release)[0]
    return asked


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the parser says to all command lines, in one process of its own, which takes 15 seconds to start."""
    asked = _asked(tmp_path_factory.mktemp("configs"))
    python = shutil.which(os.environ["APPLIANCE_VLLM"])
    assert python is not None, "APPLIANCE_VLLM names no Python"
    command = [python, "-P", str(HERE / "vllm_parser.py")]
    ran = subprocess.run(command, input=json.dumps([*asked.items()]), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, str] = json.loads(ran.stdout)
    assert found.keys() == asked.keys()
    return found


def test_migrated_files_are_accepted(verdicts: dict[str, str]) -> None:
    files = {name: verdict for name, verdict in verdicts.items() if name[:2] != "VM" and not name[0].isdigit()}
    assert len(files) > 50
    assert {name: verdict for name, verdict in files.items() if verdict} == {}


def test_most_examples_are_asked_about(verdicts: dict[str, str]) -> None:
    assert len([rule for rule in EXAMPLES if rule.code in verdicts]) > 0.8 * len(EXAMPLES)


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.code)
def test_example_of_a_rule_is_accepted(rule: Rule, verdicts: dict[str, str]) -> None:
    assert verdicts.get(rule.code, "") == ""


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_every_option_removed_since_a_release_migrates(release: Release, verdicts: dict[str, str]) -> None:
    assert verdicts[str(release)] == ""


def test_the_parser_refuses_what_is_not_migrated() -> None:
    """Otherwise nothing above would mean anything."""
    asked = [["old", old_line(0)], ["late", ["model", "--speculative-config", '{"ngram": 1}']]]
    command = [os.environ["APPLIANCE_VLLM"], "-P", str(HERE / "vllm_parser.py")]
    ran = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    refusals = json.loads(ran.stdout)
    assert "error" in refusals["old"]
    assert "ngram" in refusals["late"]
