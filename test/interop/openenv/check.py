"""Plays by OpenEnv's own clients, and runs its validator: python check.py URL. The last line is JSON."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

URL = sys.argv[1]


async def generic() -> dict:
    async with GenericEnvClient(base_url=URL) as client:
        listed = await client.step({"type": "list_tools"})
        first = await client.reset(seed=3, task="train/1")
        action = {"type": "call_tool", "tool_name": "calculator", "arguments": {"expression": "6*7"}}
        called = await client.step(action)
        state = await client.state()
        try:
            await client.step({"text": "no action"})
            refused = ""
        except RuntimeError as error:
            refused = str(error)
        last = await client.step({"message": "<answer>nothing</answer>"})
        return {
            "tools": [tool["name"] for tool in listed.observation["tools"]],
            "prompt": first.observation["text"],
            "result": called.observation["result"]["data"],
            "step_count": state["step_count"],
            "refused": refused,
            "last": [last.reward, last.done],
        }


async def mcp() -> dict:
    async with MCPToolClient(base_url=URL) as client:
        await client.reset(seed=3, task="train/1")
        tools = [tool.name for tool in await client.list_tools()]
        result = await client.call_tool("calculator", expression="6*7")
        # The tool was called by HTTP, and the state comes by the socket: both reach one episode.
        return {"tools": tools, "result": result, "step_count": (await client.state()).step_count}


def synchronous() -> list:
    with GenericEnvClient(base_url=URL).sync() as client:
        client.reset(task="train/1")
        result = client.step({"message": "<answer>nothing</answer>"})
        return [result.reward, result.done]


def validate() -> dict:
    command = [str(Path(sys.executable).parent / "openenv"), "validate", "--url", URL, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    return {"code": done.returncode, "criteria": {each["id"]: each["passed"] for each in report["criteria"]}}


found = {"generic": asyncio.run(generic()), "mcp": asyncio.run(mcp()), "sync": synchronous(), "validate": validate()}
print(json.dumps(found))
