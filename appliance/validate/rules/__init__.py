"""The third tier: fields that are right alone and wrong together. One function per rule; the table runs them all."""

from ..facts import Rule
from ..not_yet import not_yet
from . import endpoints, engine, gitops, hardware, kv_cache, limits, model, parallelism, release, security, vllm

RULES: tuple[Rule, ...] = (
    release.served,
    not_yet,
    model.wheel_without_hash,
    model.hash_without_file,
    model.names,
    model.context_beyond_model,
    model.context_without_room,
    hardware.one_cpu,
    kv_cache.offered_by_platform,
    kv_cache.block_against_head,
    kv_cache.pool_below_context,
    kv_cache.skipping_nothing,
    parallelism.divides_heads,
    parallelism.enough_devices,
    parallelism.elastic_without_experts,
    engine.step_below_sequences,
    engine.step_below_context,
    engine.speculation_fields,
    engine.options_without_backend,
    vllm.options,
    vllm.readable,
    vllm.nodes,
    vllm.elastic,
    endpoints.served_by_model,
    endpoints.nothing_served,
    limits.default_beyond_context,
    limits.queue_below_context,
    security.open_to_network,
    security.every_origin,
    security.origin_form,
    security.same_key_twice,
    security.media_hosts,
    *gitops.RULES,
)
