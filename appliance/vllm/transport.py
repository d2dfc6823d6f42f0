"""HTTP to a vLLM process at its address."""

import httpx

from appliance.vllm.config import UNIX


def make_client(address: str, timeout: httpx.Timeout) -> httpx.AsyncClient:
    """`unix:/path` or `http://host:port`."""
    if address.startswith(UNIX):
        transport = httpx.AsyncHTTPTransport(uds=address.removeprefix(UNIX), limits=httpx.Limits(max_connections=None))
        return httpx.AsyncClient(base_url="http://vllm", transport=transport, timeout=timeout)
    return httpx.AsyncClient(base_url=address, timeout=timeout, trust_env=False)
