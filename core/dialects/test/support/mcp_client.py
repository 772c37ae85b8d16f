"""Plays episodes with the official client of the package mcp, and prints the results as JSON."""

import asyncio
import json
import sys
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

changes = 0


async def on_message(message: Any) -> None:
    global changes
    if "ToolListChanged" in type(message).__name__:
        changes += 1


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def play(url: str, token: str, mode: Literal["auto", "legacy"]) -> dict[str, Any]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=on_message) as client,
    ):
        added = await client.call_tool("add", {"a": 20, "b": 21})
        picture = await client.call_tool("picture", {})
        refused = await client.call_tool("refuse", {})
        seen = changes
        await client.call_tool("grow", {})
        for _ in range(500):
            if changes > seen:
                break
            await asyncio.sleep(0.01)
        tools = [tool.name for tool in (await client.list_tools()).tools]
        end = await client.call_tool("finish", {"answer": text(added)})
        late = await client.call_tool("add", {"a": 1, "b": 2})
        return {
            "mode": mode,
            "version": client.protocol_version,
            "knows_the_task": "20 + 21?" in (client.instructions or ""),
            "tools": tools,
            "added": text(added),
            "picture": picture.content[0].mime_type,
            "refused": refused.is_error,
            "end": text(end),
            "total": (end.meta or {})["mrlm"]["total"],
            "late": late.is_error,
        }


async def failure(url: str, token: str) -> str:
    try:
        await play(url, token, "legacy")
    except BaseException as error:
        cause: BaseException = error
        # Groups of exceptions nest.
        while nested := getattr(cause, "exceptions", ()):
            cause = nested[0]
        return str(cause)
    return "no failure"


async def main(url: str, token: str) -> None:
    task = f"{url}?task=train/20&seed=5"
    result = {
        "plays": [await play(task, token, "auto"), await play(task, token, "legacy")],
        "wrong_task": await failure(f"{url}?task=train/1000", token),
        "wrong_token": await failure(task, "other"),
        "changes": changes,
    }
    print(json.dumps(result))


asyncio.run(main(*sys.argv[1:]))
