"""A process that speaks the engine's protocol and repeats each prompt, token by token. No model, no torch.

A request that comes with what another engine generated goes on behind that.

`--journal FILE` is rewritten after each change with what arrived: submitted, aborted, running, the last sampling.
A prompt that contains the token id `--kill-token` ends the process as SIGKILL would; `--fail-token` fails the request,
`--drain-token` refuses it as an engine does that is about to end.
"""

import argparse
import json
import os
import time
import uuid
from pathlib import Path

import msgspec
import zmq

from appliance.engine.protocol import (
    DRAINING,
    ENCODER,
    STEP_TOKEN_BOUNDS,
    TO_ENGINE,
    Abort,
    Hello,
    Outputs,
    Ready,
    Request,
    Stats,
    Submit,
    TokenLogprobs,
    Update,
)

STEP_SECONDS = 0.002


def describe(token: int, request: Request, count: int) -> TokenLogprobs:
    ids = list(request.sampling.logprob_token_ids) or [(token + i) % 256 for i in range(count)]
    return TokenLogprobs(token, -0.5, 1, ids, [-0.5 - i for i in range(len(ids))])


class FakeEngine:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.socket = zmq.Context().socket(zmq.ROUTER)
        self.socket.linger = 0
        self.socket.bind(options.address)
        self.running: dict[str, tuple[bytes, Request, int]] = {}
        self.journal = {"submitted": 0, "aborted": 0, "steps": 0, "tokens": 0, "sampling": None, "request": None}
        self.peers: set[bytes] = set()

    def run(self) -> None:
        self.write()
        while True:
            if self.socket.poll(0 if self.running else 100):
                self.take(*self.socket.recv_multipart())
                continue
            if self.running:
                self.step()
                time.sleep(self.options.step)

    def take(self, peer: bytes, payload: bytes) -> None:
        self.peers.add(peer)
        match TO_ENGINE.decode(payload):
            case Hello():
                self.send(peer, self.ready())
                self.send(peer, self.stats())
            case Submit(requests):
                for request in requests:
                    self.running[request.request_id] = (peer, request, len(request.generated))
                self.journal["submitted"] += len(requests)
                self.journal["sampling"] = msgspec.to_builtins(requests[0].sampling)
                self.journal["request"] = {**msgspec.to_builtins(requests[0]), "sampling": None}
                self.write()
            case Abort(request_ids):
                self.journal["aborted"] += sum(self.running.pop(name, None) is not None for name in request_ids)
                self.write()

    def step(self) -> None:
        updates: dict[bytes, list[Update]] = {}
        for name, (peer, request, done) in list(self.running.items())[: self.options.slots]:
            if self.options.kill_token in request.prompt:
                os._exit(9)
            update = self.advance(request, done)
            updates.setdefault(peer, []).append(update)
            self.running[name] = (peer, request, done + len(update.token_ids))
            if update.finish_reason:
                del self.running[name]
        for peer, mine in updates.items():
            self.send(peer, Outputs(mine))
        self.journal["steps"] += 1
        self.write()
        for peer in self.peers:
            self.send(peer, self.stats())

    def advance(self, request: Request, done: int) -> Update:
        sampling = request.sampling
        if self.options.fail_token in request.prompt:
            return Update(request_id=request.request_id, finish_reason="error", error="the request cannot be computed")
        if self.options.drain_token in request.prompt:
            return Update(request_id=request.request_id, finish_reason="error", error=DRAINING)
        tokens: list[int] = []
        reason = stop = None
        while len(tokens) < self.options.burst and reason is None:
            token = request.prompt[(done + len(tokens)) % len(request.prompt)]
            tokens.append(token)
            self.journal["tokens"] += 1
            enough = done + len(tokens) > sampling.min_tokens
            if token in sampling.stop_token_ids and enough:
                reason, stop = "stop", token
            elif token == self.options.eos and not sampling.ignore_eos and enough:
                reason = "stop"
            elif done + len(tokens) >= sampling.max_tokens:
                reason = "length"
        logprobs = None if sampling.logprobs is None else [describe(t, request, sampling.logprobs) for t in tokens]
        of_prompt = None
        first = done == len(request.generated)
        if sampling.prompt_logprobs is not None and first:
            of_prompt = [None, *(describe(t, request, sampling.prompt_logprobs) for t in request.prompt[1:])]
        now = time.monotonic()
        return Update(
            request_id=request.request_id,
            token_ids=tokens,
            logprobs=logprobs,
            prompt_logprobs=of_prompt,
            finish_reason=reason,
            stop_token_id=stop,
            cached_tokens=min(16, len(request.prompt) + done - 1) if first else 0,
            scheduled_at=now if first else 0.0,
            first_token_at=now if first else 0.0,
        )

    def send(self, peer: bytes, message: Outputs | Ready | Stats) -> None:
        self.socket.send_multipart([peer, ENCODER.encode(message)])

    def ready(self) -> Ready:
        return Ready(
            instance=uuid.uuid4().hex,
            generation=1,
            pid=os.getpid(),
            architecture="RepeatForCausalLM",
            vocab_size=self.options.vocab,
            max_context=self.options.context,
            max_sequences=self.options.slots,
            block_tokens=16,
            num_blocks=256,
            kv_dtype="bfloat16",
            weights_fingerprint=self.options.fingerprint,
            boot_stages=[("load", 0.1)],
        )

    def stats(self) -> Stats:
        return Stats(
            running=min(len(self.running), self.options.slots),
            waiting=max(0, len(self.running) - self.options.slots),
            kv_usage=min(1.0, len(self.running) / 100),
            prefix_queries=self.journal["submitted"] * 10,
            prefix_hits=self.journal["submitted"] * 4,
            preemptions=0,
            prompt_tokens=0,
            generation_tokens=self.journal["tokens"],
            steps=self.journal["steps"],
            step_sizes=[0, self.journal["steps"], 1, *[0] * (len(STEP_TOKEN_BOUNDS) - 2)],
            step_tokens=self.journal["tokens"],
            free_blocks=100,
            cached_blocks=7,
            free_slots=self.options.slots,
        )

    def write(self) -> None:
        path = Path(self.options.journal)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps({**self.journal, "running": len(self.running)}))
        fresh.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--journal", required=True)
    parser.add_argument("--eos", type=int, required=True)
    parser.add_argument("--vocab", type=int, required=True)
    parser.add_argument("--context", type=int, default=256)
    parser.add_argument("--slots", type=int, default=32)
    parser.add_argument("--burst", type=int, default=1)
    parser.add_argument("--step", type=float, default=STEP_SECONDS)
    parser.add_argument("--kill-token", type=int, default=-1)
    parser.add_argument("--fingerprint", default="0123456789abcdef")
    parser.add_argument("--fail-token", type=int, default=-1)
    parser.add_argument("--drain-token", type=int, default=-1)
    FakeEngine(parser.parse_args()).run()


if __name__ == "__main__":
    main()
