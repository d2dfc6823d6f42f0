"""The call that a freshly booted appliance suggests."""

import json

from appliance.server.config import ServerConfig


def hint(url: str, server: ServerConfig) -> str:
    body = {"model": server.served_names[0], "messages": [{"role": "user", "content": "Why is the sky blue?"}]}
    key = next((key["env"] for key in server.api_keys if "env" in key), "KEY") if server.api_keys else None
    login = f' \\\n    -H "Authorization: Bearer ${key}"' if key else ""
    quoted = json.dumps(body).replace("'", "'\\''")
    return f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json'{login} \\\n    -d '{quoted}'"
