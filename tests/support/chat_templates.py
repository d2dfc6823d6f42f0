"""Chat templates of three kinds, and conversations to render with them."""

from typing import Any

import tiny_model

CHATML = tiny_model.CHAT_TEMPLATE
TOOLS_AND_REASONING = """
{%- set state = namespace(first=true, last=0) %}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=2) }}
        {{- '\\n' ~ (tool.function | tojson) }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {%- if not state.first %}{% continue %}{% endif %}
        {%- set state.first = false %}
    {%- endif %}
    {%- if message.role == 'assistant' %}
        {% generation %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if message.reasoning_content is defined and enable_thinking is not false %}
            {{- '<think>' + message.reasoning_content + '</think>' }}
        {%- endif %}
        {{- message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '<call>' + call.function.name + ' ' + (call.function.arguments | tojson) + '</call>' }}
            {%- if loop.last %}{% break %}{% endif %}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
        {% endgeneration %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
    {%- set state.last = loop.index %}
{%- endfor %}
{{- state.last ~ eos_token ~ dict(a=1)['a'] }}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}
{%- endif %}
"""
PARTS = """
{%- macro body(content) %}
    {%- if content is string %}{{ content | trim }}{% else %}
        {%- for part in content %}{% if part.type == 'text' %}{{ part.text | trim }}{% endif %}{% endfor %}
    {%- endif %}
{%- endmacro %}
{%- if (messages | length) % 2 == 0 %}{{ raise_exception('roles must take turns') }}{% endif %}
{%- for message in messages %}
<turn>{{ message['role'] }}
{{ body(message['content']) }}</turn>
{% endfor %}
{%- if add_generation_prompt %}<turn>model
{% endif %}"""
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "wetter",
            "description": "Größe <b> & 漢字",
            "parameters": {"type": "object", "properties": {"ort": {"type": "string", "enum": ["Zürich", 'a"b']}}},
        },
    }
]
CHATS: dict[str, list[dict[str, Any]]] = {
    "one": [{"role": "user", "content": "hi"}],
    "markup": [{"role": "user", "content": "  {{ 7 * 7 }} <|im_end|> <b>&amp; 漢字 😀 \\n {% raise %} "}],
    "empty": [{"role": "user", "content": ""}],
    "three": [
        {"role": "system", "content": "be brief\n"},
        {"role": "user", "content": " a \n"},
        {"role": "assistant", "content": "b ", "reasoning_content": "hm"},
    ],
    "calls": [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "wetter", "arguments": {"ort": "Zürich", "n": 1.50}},
                }
            ],
        },
        {"role": "tool", "content": '{"grad": 3}', "tool_call_id": "1"},
    ],
}
