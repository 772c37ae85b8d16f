"""Agent of the package openai-agents with one tool."""

import asyncio
import json
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
base_url, api_key, name = sys.argv[1:]


@function_tool
def search(q: str) -> str:
    """Search."""
    return "found " + q


async def main() -> None:
    model = OpenAIChatCompletionsModel(model=name, openai_client=AsyncOpenAI(base_url=base_url, api_key=api_key))
    agent = Agent(name="Agent", instructions="Help.", tools=[search], model=model)
    print(json.dumps((await Runner.run(agent, "Go")).final_output))


asyncio.run(main())
