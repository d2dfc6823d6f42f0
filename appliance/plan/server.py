"""What the API server processes are told."""

from appliance.profile import Profile
from appliance.server.config import EndpointSwitch, ServerConfig


def server_config(
    profile: Profile,
    addresses: tuple[str, ...],
    model_path: str,
    max_context: int,
    endpoints: dict[str, EndpointSwitch],
    sampling: dict[str, float],
    config_hash: str,
    revision: int,
    generation: int,
) -> ServerConfig:
    limits, security = profile.limits, profile.security
    return ServerConfig(
        engine_addresses=addresses,
        model_path=model_path,
        served_names=profile.model.served_names or (profile.name,),
        max_context=max_context,
        profile_name=profile.name,
        release=profile.release,
        endpoints=endpoints,
        api_keys=tuple(key.model_dump(exclude_none=True) for key in security.api_keys),
        cors_origins=security.cors.origins,
        cors_credentials=security.cors.credentials,
        metrics_open=security.metrics_open,
        max_tokens_default=limits.max_tokens.default,
        max_tokens_overflow=limits.max_tokens.overflow,
        queue_requests=limits.queue.requests,
        queue_tokens=limits.queue.tokens,
        body_bytes=limits.body,
        schema_depth=limits.schema_depth,
        chat_template=profile.model.chat_template,
        sampling_defaults=sampling,
        drain_seconds=profile.reload.drain,
        log_level=profile.observability.log_level,
        log_format=profile.observability.log_format,
        access_log=profile.observability.access_log,
        config_hash=config_hash,
        revision=revision,
        generation=generation,
        backend=profile.engine.backend,
        elastic_size=profile.parallelism.data if profile.parallelism.expert.elastic else None,
    )
