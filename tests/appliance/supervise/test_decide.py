"""What a step from one plan to another takes, as a pure function, and the queue that feeds it."""

import asyncio
from typing import Any

import pytest

from appliance.plan.diff import Change
from appliance.supervise.backends import EngineChange
from appliance.supervise.decide import DoesNotFit, Room, Situation, decide, insist
from appliance.supervise.inbox import Inbox
from appliance.supervise.proposal import Outcome, Proposal

GIB = 2**30
FITS = Room(budget=8 * GIB, running=3 * GIB, wanted=4 * GIB, free=5 * GIB)
OVER_BUDGET = Room(budget=6 * GIB, running=3 * GIB, wanted=4 * GIB, free=5 * GIB)
NOT_FREE = Room(budget=8 * GIB, running=3 * GIB, wanted=4 * GIB, free=3 * GIB)
LIVE = Change("limits.queue.requests", 256, 9, "live")
BIND = Change("security.bind", "127.0.0.1:1", "127.0.0.1:2", "listener")
NEW = EngineChange(replace=("dtype: float32 -> bfloat16",))
TOLD = EngineChange(settings={"max_sequences": 7})


def situation(*changes: Change, engine: EngineChange | None = None, **more: Any) -> Situation:
    return Situation(changes, engine or EngineChange(), **more)


def test_nothing_changes_nothing() -> None:
    assert decide(situation()).action == "none"


def test_live_fields_and_files_of_the_same_name() -> None:
    assert decide(situation(LIVE)).action == "live"
    decision = decide(situation(contents=("security.api_keys[0].file",)))
    assert decision.action == "live"
    assert decision.reasons[0] == "security.api_keys[0].file: the file's content"


def test_a_listener_changes_with_any_action() -> None:
    for engine, action in ((None, "live"), (TOLD, "reconfigure"), (NEW, "drain")):
        decision = decide(situation(LIVE, BIND, engine=engine))
        assert (decision.action, decision.listener) == (action, True)
        assert any("security.bind" in reason for reason in decision.reasons)


def test_the_command_line_stands_above_the_listener() -> None:
    decision = decide(situation(BIND, overridden=frozenset({"security.bind"})))
    assert (decision.action, decision.listener) == ("live", False)


def test_a_running_engine_is_told_what_it_takes() -> None:
    decision = decide(situation(LIVE, engine=TOLD))
    assert (decision.action, decision.settings) == ("reconfigure", {"max_sequences": 7})


@pytest.mark.parametrize(
    ("strategy", "room", "action"),
    [
        ("auto", FITS, "surge"),
        ("auto", OVER_BUDGET, "drain"),
        ("auto", NOT_FREE, "drain"),
        ("auto", None, "drain"),
        ("surge", FITS, "surge"),
        ("surge", None, "surge"),
        ("drain", FITS, "drain"),
    ],
)
def test_new_engines(strategy: Any, room: Room | None, action: str) -> None:
    decision = decide(situation(engine=NEW, strategy=strategy, room=room))
    assert decision.action == action
    assert decision.reasons[0] == "dtype: float32 -> bfloat16"
    if strategy == "auto" and room:
        assert str(room) in decision.reasons


@pytest.mark.parametrize(("room", "said"), [(OVER_BUDGET, "budget of 6.00 GiB"), (NOT_FREE, "3.00 GiB are free now")])
def test_surge_that_does_not_fit_is_refused_with_its_figures(room: Room, said: str) -> None:
    with pytest.raises(DoesNotFit, match=said):
        decide(situation(engine=NEW, strategy="surge", room=room))


def test_a_refusal_of_the_engine_makes_it_new() -> None:
    told = situation(engine=TOLD, room=FITS)
    decision = insist(decide(told), told, "too many run")
    assert decision.action == "surge"
    assert "the running engine refused: too many run" in decision.reasons


def test_the_newest_state_overtakes_and_answers_for_those_like_it() -> None:
    async def taken(*proposals: Proposal) -> tuple[str, list[str], list[str]]:
        inbox = Inbox()
        for proposal in proposals:
            inbox.put(proposal)
        newest, same, overtaken = await inbox.take()
        newest.settle(Outcome("applied", 1, 1))
        names = [[ticket.proposal.note for ticket in tickets] for tickets in (same, overtaken)]
        return newest.proposal.note, names[0], names[1]

    file, hang_up = Proposal("file", note="file"), Proposal("sighup", note="hup")
    text, secret = Proposal("git", "a: b", note="git"), Proposal("secret", note="secret")
    assert asyncio.run(taken(file, hang_up)) == ("hup", ["file"], [])
    assert asyncio.run(taken(file, text)) == ("git", [], ["file"])
    assert asyncio.run(taken(text, file)) == ("file", [], ["git"])
    assert asyncio.run(taken(text, secret)) == ("git", ["secret"], [])
    assert asyncio.run(taken(secret)) == ("secret", [], [])
