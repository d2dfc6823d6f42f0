"""A state on vLLM processes: requests go on to them, streaming, behind the same door as before our own engine."""

import asyncio

from appliance.server import auth
from appliance.server.config import ServerConfig
from appliance.server.proxy.state import ProxyState
from appliance.server.proxy.upstream import Upstreams
from appliance.server.shared import Shared
from appliance.server.states import State, StateError


async def build(config: ServerConfig, shared: Shared, before: State | None) -> ProxyState:
    """Raises StateError."""
    try:
        digests = await asyncio.to_thread(auth.read_keys, config.api_keys)
    except (auth.KeyMissingError, OSError) as error:
        raise StateError(str(error)) from error
    old = before if isinstance(before, ProxyState) else None
    return ProxyState(
        config, shared, digests, Upstreams.at(config.engine_addresses, old.upstreams if old else None), old
    )
