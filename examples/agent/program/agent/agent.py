"""Answers the price of an order: an agent with a loop of its own, which uses the standard library alone."""

import json
import os
import sys
import urllib.request
from pathlib import Path

TABLES = json.loads(Path(__file__).with_name("tables.json").read_text())
#: Table and argument of each tool.
ARGUMENTS = {"order": "id", "price": "article"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {argument: {"type": "string"}}},
        },
    }
    for name, argument in ARGUMENTS.items()
]


def ask(messages: list[dict]) -> dict:
    """Returns the message with which the model answers."""
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "agent", "messages": messages, "tools": TOOLS}).encode(),
        {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def look_up(name: str, arguments: str) -> str:
    """Returns what the table of a tool has, or `none`."""
    given = json.loads(arguments).get(ARGUMENTS.get(name, ""))
    return TABLES.get(name, {}).get(str(given), "none")


messages = [{"role": "user", "content": sys.stdin.read()}]
while calls := (answer := ask(messages)).get("tool_calls"):
    results = [{"role": "tool", "tool_call_id": call["id"], "content": look_up(**call["function"])} for call in calls]
    messages += [answer, *results]
print(answer["content"])
