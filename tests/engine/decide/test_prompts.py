"""The words a model sees, to the character."""

from typing import Any

import pytest

from appliance.engine.decide import DecisionError, parse_questions
from appliance.engine.decide.prompt import messages, question_text, state_text
from appliance.engine.decide.questions import Limits

LIMITS = Limits(64, 26)


def shown(**spec: Any) -> str:
    (question,) = parse_questions({"q": spec}, LIMITS)
    return question_text(question)


PROMPTS: dict[str, tuple[dict[str, Any], str]] = {
    "choice": (
        {"type": "choice", "instructions": "Who pays?", "criteria": {"buyer": None, "seller": "when it is broken"}},
        "Question: Who pays?\nA: buyer\nB: seller - when it is broken\nAnswer with the letter of one option only.",
    ),
    "choice without instructions": (
        {"type": "choice", "criteria": {"only": None}},
        "A: only\nAnswer with the letter of one option only.",
    ),
    "choice with null instructions": (
        {"type": "choice", "instructions": None, "criteria": {"ü 漢": ""}},
        "A: ü 漢\nAnswer with the letter of one option only.",
    ),
    "descriptions and instructions that are no text": (
        {
            "type": "choice",
            "instructions": {"ask": [1, True]},
            "criteria": {"a": 5, "b": {"x": None}, "": 0.5, "d": False},
        },
        "Question: {'ask': [1, True]}\nA: a - 5\nB: b - {'x': None}\nC:  - 0.5\nD: d - False\n"
        "Answer with the letter of one option only.",
    ),
    "noul": (
        {"type": "noul", "instructions": "Late?"},
        "Question: Late?\nyes\nno\nAnswer with yes or no only.",
    ),
    "noul with empty criteria": ({"type": "noul", "criteria": {}}, "yes\nno\nAnswer with yes or no only."),
    "noul described": (
        {"type": "noul", "instructions": "Late?", "criteria": {"false": "in time", "true": "after noon"}},
        "Question: Late?\nyes: after noon\nno: in time\nAnswer with yes or no only.",
    ),
    "noul described on one side": (
        {"type": "noul", "instructions": "Late?", "criteria": {"false": "in time", "true": None}},
        "Question: Late?\nyes\nno: in time\nAnswer with yes or no only.",
    ),
    "score": (
        {"type": "score", "instructions": "How bad?", "criteria": ["fine", "poor"]},
        "Question: How bad?\n0: fine\n1: poor\nAnswer with the number of one level only.",
    ),
    "score of anything": (
        {"type": "score", "instructions": 7, "criteria": [1, None, {"a": 1}, [2]]},
        "Question: 7\n0: 1\n1: None\n2: {'a': 1}\n3: [2]\nAnswer with the number of one level only.",
    ),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_question_text(name: str) -> None:
    spec, expected = PROMPTS[name]
    assert shown(**spec) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("as it is \n{", "as it is \n{"),
        ("", ""),
        (None, "null"),
        (True, "true"),
        (1.0, "1.0"),
        (10**25, "10000000000000000000000000"),
        ({"b": [1, {"ä": "漢字 \n"}], "a": None}, '{"b": [1, {"ä": "漢字 \\n"}], "a": null}'),
        ([], "[]"),
    ],
)
def test_state_text(state: Any, expected: str) -> None:
    assert state_text(state) == expected


def test_state_and_question_are_one_user_turn() -> None:
    (question,) = parse_questions({"q": PROMPTS["noul"][0]}, LIMITS)
    user = {"role": "user", "content": '{"a": 1}\n\nQuestion: Late?\nyes\nno\nAnswer with yes or no only.'}
    assert messages('{"a": 1}', None, question) == [user]
    assert messages('{"a": 1}', "", question) == [user]
    assert messages('{"a": 1}', "Be fair.", question) == [{"role": "system", "content": "Be fair."}, user]


def test_every_label_has_its_place() -> None:
    letters = shown(type="choice", criteria={f"o{i}": None for i in range(26)})
    assert letters.splitlines()[25] == "Z: o25"
    digits = shown(type="score", criteria=list(range(100, 110)))
    assert digits.splitlines()[9] == "9: 109"


NOUL = {"type": "noul", "instructions": "?"}


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ({}, "there must be at least one"),
        ({f"q{i}": NOUL for i in range(65)}, "at most 64, got 65"),
        ({"": NOUL}, "an id cannot be empty"),
        ({"q": "x"}, 'question "q": must be an object'),
        ({"q": {}}, "its type is missing, known types are choice, noul, score"),
        ({"q": {"type": None}}, "its type is null, known types are"),
        ({"q": {"type": ["noul"]}}, r'its type is \["noul"\], known types are'),
        ({"q": {"type": 1}}, "its type is 1, known types are"),
        ({"q": {"type": "box"}}, 'its type is "box", known types are choice, noul, score'),
        ({"a": NOUL, "q": {**NOUL, "zeta": 1, "alpha": 2}}, 'question "q": unknown fields: alpha, zeta'),
        ({"q": {"type": "choice"}}, "criteria of a choice must be an object"),
        ({"q": {"type": "choice", "criteria": {}}}, "criteria of a choice must be an object"),
        ({"q": {"type": "choice", "criteria": ["a"]}}, "criteria of a choice must be an object"),
        ({"q": {"type": "choice", "criteria": {str(i): None for i in range(27)}}}, "at most 26 options, got 27"),
        ({"q": {"type": "noul", "criteria": {"yes": "x"}}}, "the keys true and false"),
        ({"q": {"type": "noul", "criteria": []}}, "the keys true and false"),
        ({"q": {"type": "noul", "criteria": "x"}}, "the keys true and false"),
        ({"q": {"type": "score"}}, "a list of two or more levels"),
        ({"q": {"type": "score", "criteria": ["one"]}}, "a list of two or more levels"),
        ({"q": {"type": "score", "criteria": {"0": "a", "1": "b"}}}, "a list of two or more levels"),
        ({"q": {"type": "score", "criteria": list(range(11))}}, "at most 10 options, got 11"),
        ({"q": {"type": "score", "criteria": ["a", "b", "a"]}}, "two options have the same name"),
        ({"q": {"type": "score", "criteria": [1, "1"]}}, "two options have the same name"),
    ],
)
def test_wrong_questions_are_told(questions: dict[str, Any], says: str) -> None:
    with pytest.raises(DecisionError, match=says) as caught:
        parse_questions(questions, LIMITS)
    assert caught.value.param == "questions"


def test_the_most_is_allowed() -> None:
    most = {
        **{f"q{i}": NOUL for i in range(62)},
        "letters": {"type": "choice", "criteria": {str(i): None for i in range(26)}},
        "digits": {"type": "score", "criteria": list(range(10))},
    }
    assert [question.id for question in parse_questions(most, LIMITS)] == list(most)


def test_a_strategy_may_take_fewer_options() -> None:
    spec = {"q": {"type": "choice", "criteria": {"a": None, "b": None, "c": None}}}
    with pytest.raises(DecisionError, match="at most 2 options, got 3"):
        parse_questions(spec, Limits(64, 2))
