"""The script family on bent files and on any text: read or refused, and edited at option sites only."""

from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from script_cases import CASES, DIALECTS, carried_out, covered, dialect_of, text_of

from appliance.migrations.canonical import Edit, apply_edits
from appliance.migrations.dialects import DIALECTS as ALL
from appliance.migrations.dialects import DialectError, load
from appliance.migrations.operations import Add, Comment, Operation, Remove, Rewrite

BITS = [
    *('"', "'", "\\", "\n", "\\\n", "$", "${X}", "$(", "`", " ", "\t", "#", "{{ a }}", "{% x %}\n", "(", ")"),
    *("[", "]", "{", "}", ";", "&&", "|", "<<EOF\n", "EOF\n", "é", "\r\n", "=", ",", "\ud800", "\0", "%", "🦜"),
    *(
        '"${ARGS[@]}"',
        "-e A=b ",
        "export VLLM_USE_V1=1\n",
        '--hf-overrides {"a":1} ',
        "ENV ",
        "CMD ",
        "\tvllm serve y\n",
    ),
    *("--swap-space 4 ", "vllm serve x "),
]


@st.composite
def bent(draw: st.DrawFn) -> tuple[Path, str]:
    """A case file with some characters lost, doubled or put in."""
    case = draw(st.sampled_from(CASES))
    text = text_of(case)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        how = draw(st.integers(0, 2))
        if how == 0:
            text = text[:at] + draw(st.sampled_from(BITS)) + text[at:]
        elif how == 1:
            text = text[:at] + text[at + draw(st.integers(1, 20)) :]
        else:
            other = draw(st.integers(0, len(text)))
            text = text[:at] + text[other : other + 60] + text[at:]
    return case, text


# two commands of one unit: each takes out one of two variables that stand side by side
SHARED = """[Service]
Environment=VLLM_USE_V1=1 HF_HOME=/data
ExecStart=/usr/bin/docker run --rm --name %n -e VLLM_USE_V1"=1 \\
    vllm/vllm-openai:v0.9.0 --model %i \\
    --swap-space 4
ExecStart=-/bin/bash -c 'exec vllm serve ${MODEL} --disable-log-requests'
"""


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@example((next(case for case in CASES if case.suffix == ".service"), SHARED))
@given(bent())
def test_bent_files_are_read_or_refused_and_edited_only_at_their_sites(drawn: tuple[Path, str]) -> None:
    case, text = drawn
    dialect = dialect_of(case)
    try:
        deployments = dialect.read("", text)
    except DialectError as refused:
        assert 0 <= refused.offset <= len(text)
        return
    everything: list[Edit] = []
    for deployment in (d for d in deployments if d.editable):
        removed: list[Operation] = [Remove(site) for site in deployment.sites]
        edits = carried_out(dialect, text, deployment, removed)
        assert all(covered(text, deployment.sites, edit) for edit in edits)
        everything += edits
        for site in deployment.sites[:3]:
            operations: list[Operation] = [
                Rewrite(site, "new-name"), Rewrite(site, value="v w"), Rewrite(site, "o", {"a": 1}),
                Rewrite(site, "hf-overrides", name_path=("a", "b")), Comment(site, "remark"), Add("n", "v", after=site),
            ]  # fmt: skip
            for operation in operations:
                edits = carried_out(dialect, text, deployment, [operation])
                assert all(covered(text, deployment.sites, edit) or isinstance(operation, Rewrite) for edit in edits)
                apply_edits(text, edits)
    apply_edits(text, everything)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([name for name in ALL if name in DIALECTS.values()]), st.text(max_size=200))
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    dialect = load(name)
    assert 0 <= dialect.detect("", text) <= 1
    try:
        dialect.read("", "vllm serve " + text)
    except DialectError as refused:
        assert refused.fact
