"""What migrate writes is accepted by the parser and the config classes of vLLM 0.32.0."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from argvs import BOOK, argv_of, old_line
from vllm_cannot import CANNOT
from weightless import make_models

from appliance.diagnostics import Severity
from appliance.migrate import Wanted, find, migrate_file
from appliance.migrations.change import Change, Part
from appliance.migrations.dialects import load
from appliance.migrations.example import read_example, rewrite
from appliance.migrations.operations import Insert, Remove, Rewrite
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


def _left_open(changes: list[Change]) -> bool:
    """Whether something stays in the text that keeps the engine from starting, until a person has decided."""
    made = [operation for change in changes for operation in change.operations]
    touched = {id(operation.site) for operation in made if isinstance(operation, Remove | Rewrite | Insert)}
    return any(_open(change) and id(change.site) not in touched for change in changes)


def _asked(folder: Path) -> dict[str, list[str]]:
    """Command lines by name; `open VM...` are those that nobody expects to start."""
    asked = dict(_files(folder))
    for rule in EXAMPLES:
        argv, changes = _migrated(rule.before, None)
        asked[f"open {rule.code}" if _left_open(changes) else rule.code] = argv
    for index, release in enumerate(BOOK.releases):
        if release in RELEASES:
            asked[str(release)] = _migrated(shlex.join(old_line(index)), release)[0]
    return asked


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What the parser and the config classes say to all command lines, in one process, which takes a while to start."""
    folder = tmp_path_factory.mktemp("configs")
    found = _answers(_asked(folder), make_models(folder))
    assert found
    return found


def _answers(asked: dict[str, list[str]], models: dict[str, str]) -> dict[str, tuple[str, str]]:
    python = shutil.which(os.environ["APPLIANCE_VLLM"])
    assert python is not None, "APPLIANCE_VLLM names no Python"
    command = [python, "-P", str(HERE / "vllm_parser.py")]
    given = json.dumps({"models": models, "asked": [*asked.items()]})
    ran = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, tuple[str, str]] = {name: (said[0], said[1]) for name, said in json.loads(ran.stdout).items()}
    assert found.keys() == asked.keys()
    return found


def _faults(said: tuple[str, str]) -> str:
    """The parser's error, or that of the config classes where they can be built here at all."""
    parser, classes = said
    return parser or ("" if any(re.search(pattern, classes) for pattern in CANNOT) else classes)


def test_migrated_files_are_accepted(verdicts: dict[str, tuple[str, str]]) -> None:
    ours = (*(str(release) for release in RELEASES), *(rule.code for rule in RULES))
    files = {name: _faults(said) for name, said in verdicts.items() if name not in ours and name[:5] != "open "}
    assert len(files) > 50
    assert {name: fault for name, fault in files.items() if fault} == {}


def test_most_examples_are_asked_about(verdicts: dict[str, tuple[str, str]]) -> None:
    assert len([rule for rule in EXAMPLES if rule.code in verdicts]) > 0.8 * len(EXAMPLES)


@pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.code)
def test_example_of_a_rule_is_accepted(rule: Rule, verdicts: dict[str, tuple[str, str]]) -> None:
    if rule.code in verdicts:
        assert _faults(verdicts[rule.code]) == ""
    else:
        assert any(verdicts[f"open {rule.code}"]), "the engine takes what migrate says would not start"


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_every_option_removed_since_a_release_migrates(release: Release, verdicts: dict[str, tuple[str, str]]) -> None:
    assert _faults(verdicts[str(release)]) == ""


@pytest.mark.parametrize("pattern", CANNOT)
def test_what_cannot_be_built_here_is_still_met(pattern: str, verdicts: dict[str, tuple[str, str]]) -> None:
    assert any(re.search(pattern, classes) for _, classes in verdicts.values())


def test_what_is_not_migrated_is_refused(tmp_path: Path) -> None:
    """Otherwise nothing above would mean anything."""
    nested = {
        "speculative": ["m", "--speculative-config", '{"method": "ngram", "ngram": 1}'],
        "transfer": ["m", "--kv-transfer-config", '{"kv_connector": "PyNcclConnector", "kv_role": "kv_both"}'],
        "limits": ["m", "--limit-mm-per-prompt", '{"image": {"counts": 1}}'],
        "rope": ["m", "--hf-overrides", '{"rope_parameters": "yarn"}'],
        "quantization": ["m", "--quantization", "bitsandbytes"],
    }
    said = _answers({"old": old_line(0), **nested}, make_models(tmp_path))
    assert "error" in said["old"][0]
    assert [name for name in nested if not any(said[name])] == []
    assert "ngram" in said["speculative"][1] and "PyNccl" in said["transfer"][1]
