"""The call that a freshly booted appliance suggests."""

import json

from appliance.server.config import ServerConfig


def hint(url: str, server: ServerConfig) -> str:
    messages = [{"role": "user", "content": "Why is the sky blue?"}]
    body = {"model": server.served_names[0], "max_tokens": 100, "temperature": 0, "messages": messages}
    key = next((key["env"] for key in server.api_keys if "env" in key), "KEY") if server.api_keys else None
    login = f' \\\n    -H "Authorization: Bearer ${key}"' if key else ""
    quoted = json.dumps(body).replace("'", "'\\''")
    return f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json'{login} \\\n    -d '{quoted}'"
