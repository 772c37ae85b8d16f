"""Checks the reward function and the tools with verl's own code: python check.py ADDRESS README. The last line is JSON.

ADDRESS has math@2, tools@2 and outcomes@1.
"""

import asyncio
import contextlib
import io
import json
import re
import sys
import tempfile
from pathlib import Path

from omegaconf import OmegaConf
from verl.experimental.agent_loop.tool_agent_loop import AgentData, ToolAgentLoop
from verl.experimental.agent_loop.tool_parser import FunctionCall
from verl.tools.tool_registry import load_all_tools
from verl.trainer.ppo.reward import get_custom_reward_fn

from mrlm_client import MrlmError

ADDRESS, README = sys.argv[1], Path(sys.argv[2]).read_text("utf-8").split("\n## verl\n")[1].split("\n## ")[0]


def reward_function():
    """Returns the function that verl makes of the settings of the README's command."""
    command = re.search(r"```sh\n(.*?)```", README, re.DOTALL)[1].replace("127.0.0.1:50051", ADDRESS)
    settings = [part.lstrip("+") for part in command.split() if "custom_reward_function" in part]
    return get_custom_reward_fn(OmegaConf.create({"reward": OmegaConf.from_dotlist(settings)}))


def code_of(function, *args, **kwargs) -> str:
    try:
        function(*args, **kwargs)
    except MrlmError as error:
        return error.code
    return ""


def rewards() -> dict:
    compute_score = reward_function()

    def score(answer: str, **info) -> float:
        row = {"data_source": "math@2", "ground_truth": "", "extra_info": {"task": "train/5", **info}}
        return compute_score(solution_str=answer, **row)

    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block.replace("127.0.0.1:50051", ADDRESS), {})
    outcomes = {"data_source": "outcomes@1", "ground_truth": "", "extra_info": {"task": None}}
    return {
        "readme": float(printed.getvalue()),
        "right": max(score(f"<answer>{value}</answer>") for value in range(-200, 200)),
        "wrong": score("nothing"),
        "tools": score("nothing", tool_rewards=[0.25, 0.5]),
        "errors": [
            code_of(score, "nothing", mrlm_unscored=["JUDGE_FAILED", "It did not answer."]),
            code_of(compute_score, solution_str="unscored", **outcomes),
            code_of(compute_score, solution_str="one of several turns", **outcomes),
            code_of(score, "nothing", task="train/-1"),
        ],
    }


def tools_of(config: str) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, contextlib.redirect_stdout(io.StringIO()):
        file.write(config.replace("127.0.0.1:50051", ADDRESS))
        file.flush()
        return {tool.name: tool for tool in load_all_tools(file.name, None)}


class Loop(ToolAgentLoop):
    """The part of verl's agent loop that calls tools."""

    def __init__(self, tools: dict) -> None:
        self.tools = tools
        self.max_tool_response_length = 4096
        self.tool_response_truncate_side = "right"


async def call(tools: dict, create_kwargs: dict, *calls: tuple[str, dict]) -> dict:
    """Calls tools in one trajectory, the first two at the same time."""
    fixed = {"image_data": [], "video_data": [], "audio_data": None, "mm_processor_kwargs": None, "metrics": {}}
    kwargs = {name: {"create_kwargs": create_kwargs} for name in tools}
    data = AgentData(messages=[], request_id="1", tools_kwargs=kwargs, **fixed)
    loop = Loop(tools)

    async def one(name: str, arguments: dict) -> list:
        made = FunctionCall(name=name, arguments=json.dumps(arguments))
        response, reward, _ = await loop._call_tool(made, data.tools_kwargs, data)
        return [response.text, reward]

    results = [*await asyncio.gather(*(one(*each) for each in calls[:2])), *[await one(*each) for each in calls[2:]]]
    return {"results": results, "extra": data.extra_fields}


def tools() -> dict:
    (config,) = re.findall(r"```\n(tools:.*?)```", README, re.DOTALL)
    found = tools_of(config)
    sums = [("calculator", {"expression": text}) for text in ("6*7", "1+1")]
    played = asyncio.run(call(found, {"task": "train/1"}, *sums, ("submit", {"text": "<answer>0</answer>"}), sums[0]))
    faulty = tools_of(config.replace("tools@2", "outcomes@1").replace("calculator", "submit"))
    texts = [("submit", {"text": text}) for text in ("fine", "unscored", "fail")]
    return {"schemas": sorted(found), "played": played, "faulty": asyncio.run(call(faulty, {}, *texts))}


print(json.dumps({"rewards": rewards(), "tools": tools()}))
