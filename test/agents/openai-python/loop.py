"""Loop of an agent with the package openai, whose messages are sent back as it dumps them."""

import json
import sys
from typing import Any

from openai import OpenAI

base_url, api_key, model = sys.argv[1:]
client = OpenAI(base_url=base_url, api_key=api_key)
parameters = {"type": "object", "properties": {"q": {"type": "string"}}}
tools: Any = [{"type": "function", "function": {"name": "search", "parameters": parameters}}]
messages: list[Any] = [{"role": "user", "content": "Go"}]
while True:
    message = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
    messages.append(message.model_dump())
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        found = "found " + json.loads(call.function.arguments)["q"]  # type: ignore[union-attr]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": found})
print(json.dumps(message.content))
