"""Coding agent with one tool. Its input is the instruction."""

import json
import os
import subprocess
import sys
import urllib.request

TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Runs a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}


def ask(messages: list) -> dict:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "agent", "messages": messages, "tools": [TOOL]}).encode(),
        {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def run(command: str) -> str:
    try:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "The command took more than 60 s."
    return (done.stdout + done.stderr)[-4000:] or "(no output)"


messages = [{"role": "user", "content": sys.stdin.read()}]
while calls := (messages := [*messages, ask(messages)])[-1].get("tool_calls"):
    for call in calls:
        command = str(json.loads(call["function"]["arguments"]).get("command", ""))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": run(command)})
print(messages[-1]["content"])
