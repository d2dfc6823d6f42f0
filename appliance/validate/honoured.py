"""Who carries out each field: the module that reads it. A field is here, or refused by not_yet.py, or both by value."""

SERVER = "appliance.plan.server"
MAKE = "appliance.plan.make"
SIZES = "appliance.plan.sizes"
NUMBERS = "appliance.plan.numbers"
MACHINE = "appliance.plan.machine"
ENDPOINTS = "appliance.plan.endpoints"
SOURCE = "appliance.source"

HONOURED: dict[str, str] = {
    "schema": "appliance.profile.root",
    "name": SERVER,
    "release": "appliance.validate.rules.release",
    "model.source": SOURCE,
    "model.sha256": SOURCE,
    "model.served_names": SERVER,
    "model.dtype": NUMBERS,
    "model.max_context": SIZES,
    "model.chat_template": SERVER,
    "hardware.platform": MACHINE,
    "hardware.arch": MACHINE,
    "hardware.devices": MACHINE,
    "hardware.memory_fraction": MAKE,
    "kv_cache.dtype": NUMBERS,
    "kv_cache.size": SIZES,
    "kv_cache.block_tokens": MAKE,
    "kv_cache.prefix_caching": MAKE,
    "engine.batching.max_sequences": SIZES,
    "engine.batching.max_tokens": SIZES,
    "engine.batching.chunked_prefill": MAKE,
    "endpoints.chat": ENDPOINTS,
    "endpoints.completions": ENDPOINTS,
    "endpoints.systemone": ENDPOINTS,
    "endpoints.metrics": ENDPOINTS,
    "limits.max_tokens.default": SERVER,
    "limits.max_tokens.overflow": SERVER,
    "limits.queue.requests": SERVER,
    "limits.queue.tokens": SERVER,
    "limits.body": SERVER,
    "limits.schema_depth": SERVER,
    "security.bind": "appliance.supervise.boot",
    "security.api_keys": SERVER,
    "security.api_keys[].env": "appliance.validate.machine.keys",
    "security.api_keys[].file": "appliance.validate.machine.keys",
    "security.metrics_open": SERVER,
    "security.cors.origins": SERVER,
    "security.cors.credentials": SERVER,
    "reload.drain": SERVER,
    "observability.log_level": SERVER,
    "observability.log_format": SERVER,
    "observability.access_log": SERVER,
}
