"""States and generations of (fake) vLLMs one after the other: no request is lost between them."""

import threading

import httpx
from proxied import Make, Vllm
from waiting import until


def test_a_new_generation_takes_over_and_the_old_one_finishes(vllm: Vllm, proxy: Make) -> None:
    old, new = vllm("a"), vllm("b")
    server = proxy(old)
    body = {"model": "tiny", "messages": [{"role": "user", "content": "count 60"}], "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as running:
        lines = running.iter_lines()
        next(lines)
        prepared = server.tell("prepare", config={"engine_addresses": (new.address,), "generation": 2})
        assert prepared["error"] is None
        assert "token" in prepared["proof"]["chat"]
        assert "noul" in prepared["proof"]["decision"]
        server.tell("switch")
        assert server.chat("hi there").status_code == 200
        server.send("retire", addresses=[old.address], seconds=20, carry=False)
        assert [line for line in lines if line][-1] == "data: [DONE]"
    assert server.answer()["finished"] == 1
    assert len(new.work()) == 1


def test_unanswered_work_is_carried_to_the_next_generation(vllm: Vllm, proxy: Make) -> None:
    old, new = vllm("a"), vllm("b")
    server = proxy(old)
    answers: list[httpx.Response] = []
    worker = threading.Thread(target=lambda: answers.append(server.chat("wait")))
    worker.start()
    until(old.work, "it runs")
    server.tell("hold", requests=10, seconds=20)
    server.send("retire", addresses=[old.address], seconds=0, carry=True)
    assert server.answer()["carried"] == 1
    old.stop()
    server.tell("prepare", config={"engine_addresses": (new.address,), "generation": 2})
    server.tell("switch")
    new.tell("release")
    worker.join()
    assert answers[0].status_code == 200
    assert len(new.work()) == 1


def test_a_candidate_that_does_not_answer_is_refused(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm("a"))
    refused = server.tell("prepare", config={"engine_addresses": (vllm("b", "refuses").address,)}, seconds=20)
    assert "the fake refuses" in refused["error"]
    late = server.tell("prepare", config={"engine_addresses": (vllm("c", "hang").address,)}, seconds=1)
    assert late["error"].startswith("no answer from vLLM within ")
    assert server.chat("hi there").status_code == 200


def test_elastic_experts_scale_while_requests_come(vllm: Vllm, proxy: Make) -> None:
    fake = vllm()
    server = proxy(fake, elastic_size=1)
    statuses: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            statuses.append(server.chat("hi there").status_code)

    worker = threading.Thread(target=ask)
    worker.start()
    assert server.tell("prepare", config={"elastic_size": 3})["error"] is None
    assert fake.ask()["engines"] == 3
    server.tell("switch")
    too_many = server.tell("prepare", config={"elastic_size": 9})
    assert "vLLM cannot scale to 9 engines" in too_many["error"]
    server.tell("prepare", config={"elastic_size": 2})
    server.tell("discard")
    until(lambda: fake.ask()["engines"] == 3, "a dropped candidate gives its engines back")
    stop.set()
    worker.join()
    assert set(statuses) == {200}


def test_drain_finishes_streams(vllm: Vllm, proxy: Make) -> None:
    server = proxy(vllm())
    body = {"model": "tiny", "messages": [{"role": "user", "content": "count 40"}], "stream": True}
    with server.http.stream("POST", "/v1/chat/completions", json=body) as running:
        lines = running.iter_lines()
        next(lines)
        server.process.terminate()
        assert [line for line in lines if line][-1] == "data: [DONE]"
    assert server.process.wait(20) == 0
