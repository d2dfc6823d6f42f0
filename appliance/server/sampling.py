"""The sampling fields that chat and completions share: their ranges, their defaults, and what the engine gets."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from appliance.engine.protocol import SamplingParams
from appliance.server.config import ServerConfig
from appliance.server.errors import bad_request, shown

Value = TypeVar("Value", int, float)

INT64 = 2**63
MAX_N = 16_384
MAX_STOPS = 4
MAX_LOGPROBS = 20
MAX_LOGPROB_IDS = 1024
MAX_BIASES = 1024
SALT_LENGTH = 128
SALT_FORBIDDEN = "@/\\\0"


def _stops(value: Any) -> Any:
    stops = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        raise ValueError(f"must be a string or a list of strings, got {shown(value)}")
    if len(stops) > MAX_STOPS:
        raise ValueError(f"at most {MAX_STOPS} stop strings, got {len(stops)}")
    if "" in stops:
        raise ValueError("a stop string cannot be empty")
    return stops


def _biases(value: Any) -> Any:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"must be an object of token id -> bias, got {shown(value)}")
    if len(value) > MAX_BIASES:
        raise ValueError(f"at most {MAX_BIASES} biases, got {len(value)}")
    biases = {}
    for name, bias in value.items():
        if not (name.isascii() and name.isdigit()):
            raise ValueError(f"{shown(name)} is not a token id")
        if isinstance(bias, bool) or not isinstance(bias, int | float) or not -100 <= bias <= 100:
            raise ValueError(f"the bias of token {name} must be a number in [-100, 100], got {shown(bias)}")
        biases[int(name)] = float(bias)
    return biases


def _salt(value: str | None) -> str | None:
    if value is None:
        return None
    if not 0 < len(value) <= SALT_LENGTH or any(c in SALT_FORBIDDEN for c in value):
        raise ValueError(f"must have 1 to {SALT_LENGTH} characters, none of @ / \\ NUL")
    return value


CacheSalt = Annotated[str | None, AfterValidator(_salt)]
RequestId = Annotated[str | None, Field(min_length=1, max_length=256, pattern=r"^[\x21-\x7e]+$")]
Int64 = Annotated[int, Field(ge=-INT64, lt=INT64)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class StreamOptions(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    include_usage: bool | None = None
    continuous_usage_stats: bool | None = None


class SamplingFields(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    model: str | None = None
    n: Annotated[int, Field(ge=1, le=MAX_N)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=0, lt=INT64)] | None = None
    min_tokens: Annotated[int, Field(ge=0, lt=INT64)] | None = None
    temperature: Annotated[Finite, Field(ge=0, le=2)] | None = None
    top_p: Annotated[Finite, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=2**31)] | None = None
    min_p: Annotated[Finite, Field(ge=0, le=1)] | None = None
    repetition_penalty: Annotated[Finite, Field(gt=0)] | None = None
    presence_penalty: Annotated[Finite, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[Finite, Field(ge=-2, le=2)] | None = None
    logit_bias: Annotated[dict[int, float], BeforeValidator(_biases)] = {}
    seed: Int64 | None = None
    stop: Annotated[list[str], BeforeValidator(_stops)] = []
    stop_token_ids: list[int] | None = None
    include_stop_str_in_output: bool | None = None
    ignore_eos: bool | None = None
    skip_special_tokens: bool | None = None
    prompt_logprobs: Annotated[int, Field(ge=0, le=MAX_LOGPROBS)] | None = None
    logprob_token_ids: Annotated[list[int], Field(max_length=MAX_LOGPROB_IDS)] | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None
    cache_salt: CacheSalt = None
    priority: Int64 | None = None
    request_id: RequestId = None
    user: str | None = None

    @property
    def count(self) -> int:
        return self.n or 1

    @property
    def skip_special(self) -> bool:
        return self.skip_special_tokens is not False

    def check(self, vocab_size: int) -> None:
        """What one field alone cannot tell; raises ApiError 400."""
        if self.stream_options and not self.stream:
            raise bad_request("stream_options needs stream: true", "stream_options")
        if self.stream and self.prompt_logprobs is not None:
            raise bad_request("prompt_logprobs cannot be streamed", "prompt_logprobs")
        for name in ("stop_token_ids", "logprob_token_ids", "logit_bias"):
            check_ids(getattr(self, name) or (), vocab_size, name)

    def params(
        self, config: ServerConfig, prompt_tokens: int, default: int | None, logprobs: int | None
    ) -> SamplingParams:
        """What the engine gets. `default` = max_tokens where the request gives none; raises ApiError 400."""
        max_tokens = fit_max_tokens(config, prompt_tokens, self.max_tokens, default)
        if (self.min_tokens or 0) > max_tokens:
            raise bad_request(f"min_tokens: {self.min_tokens} is over max_tokens, {max_tokens}", "min_tokens")
        temperature = self._or_default(config, "temperature", self.temperature, 1.0)
        if temperature == 0 and self.count > 1:
            raise bad_request(
                f"n: greedy sampling gives the same text {self.n} times; set n to 1 or a temperature", "n"
            )
        return SamplingParams(
            max_tokens=max_tokens,
            min_tokens=self.min_tokens or 0,
            temperature=temperature,
            top_k=max(0, int(self._or_default(config, "top_k", self.top_k, 0))),
            top_p=self._or_default(config, "top_p", self.top_p, 1.0),
            min_p=self._or_default(config, "min_p", self.min_p, 0.0),
            repetition_penalty=self._or_default(config, "repetition_penalty", self.repetition_penalty, 1.0),
            presence_penalty=self._or_default(config, "presence_penalty", self.presence_penalty, 0.0),
            frequency_penalty=self._or_default(config, "frequency_penalty", self.frequency_penalty, 0.0),
            logit_bias=self.logit_bias,
            seed=self.seed,
            stop_token_ids=tuple(self.stop_token_ids or ()),
            ignore_eos=self.ignore_eos or False,
            logprobs=logprobs,
            logprob_token_ids=tuple(self.logprob_token_ids or ()),
            prompt_logprobs=self.prompt_logprobs,
        )

    @staticmethod
    def _or_default(config: ServerConfig, name: str, own: float | None, neutral: float) -> float:
        return own if own is not None else config.sampling_defaults.get(name, neutral)


def check_ids(ids: Any, vocab_size: int, param: str) -> None:
    """Raises ApiError 400 at `param` for the first id outside the vocabulary."""
    for token_id in ids:
        if not 0 <= token_id < vocab_size:
            raise bad_request(f"{param}: {token_id} is no token id; the vocabulary has {vocab_size}", param)


def fit_max_tokens(config: ServerConfig, prompt_tokens: int, asked: int | None, default: int | None) -> int:
    """Tokens that may come out; raises ApiError 400 where prompt or max_tokens pass the context.

    Where the request says nothing: the profile's default, the endpoint's, the checkpoint's, what fits.
    """
    context = config.max_context
    room = context - prompt_tokens
    if room < 1:
        raise bad_request(
            f"the prompt has {prompt_tokens} tokens, the context holds {context} and one must be left for the answer",
            "prompt",
        )
    if asked is None:
        choices = (config.max_tokens_default, default, config.sampling_defaults.get("max_new_tokens"))
        return min(room, int(next((choice for choice in choices if choice is not None), room)))
    if asked < 1:
        raise bad_request(f"max_tokens: must be at least 1, got {asked}", "max_tokens")
    if asked > context:
        raise bad_request(f"max_tokens: {asked} is over the context of {context} tokens", "max_tokens")
    if asked > room and config.max_tokens_overflow == "reject":
        raise bad_request(
            f"max_tokens: {asked} and a prompt of {prompt_tokens} tokens pass the context of {context};"
            f" at most {room} fit",
            "max_tokens",
        )
    return min(asked, room)
