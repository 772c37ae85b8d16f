"""Plays rows of an environment that `mrlm serve` offers to NeMo Gym, with NeMo Gym's own agents.

python run.py URL [--rows N] [--start N]

URL is the port of one environment: mrlm serve --environments math --http-port math=8080. A script stands for the model:
it calls the tool `calculator` where the row has it, then answers sums. The last line is JSON: rewards of both agents.
"""

import argparse
import asyncio
import json
import os
import re
import socket
import threading
import time
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("--start", type=int, default=5)
parser.add_argument("--rows", type=int, default=2)
arguments = parser.parse_args()


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


ENVIRONMENT = {"host": urlsplit(arguments.url).hostname, "port": urlsplit(arguments.url).port}
MODEL, SIMPLE, GYMNASIUM = ({"host": "127.0.0.1", "port": free_port()} for _ in range(3))
CONFIG = {
    "environment": {"resources_servers": {"environment": ENVIRONMENT}},
    "policy_model": {"responses_api_models": {"policy_model": MODEL}},
    "simple_agent": {"responses_api_agents": {"simple_agent": SIMPLE}},
    "gymnasium_agent": {"responses_api_agents": {"gymnasium_agent": GYMNASIUM}},
    "head_server": {"host": "127.0.0.1", "port": free_port()},
}
# NeMo Gym's launcher gives its processes the configuration in this way.
os.environ["NEMO_GYM_CONFIG_DICT"] = json.dumps(CONFIG)

import uvicorn  # noqa: E402
from fastapi import FastAPI  # noqa: E402
from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef  # noqa: E402
from nemo_gym.server_utils import ServerClient  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentConfig  # noqa: E402
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig  # noqa: E402

model = FastAPI()


@model.post("/v1/responses")
def respond(body: dict) -> dict:
    items = body["input"]
    prompt = next(item["content"] for item in items if item.get("role") == "user")
    has_called = any(item.get("type") == "function_call_output" for item in items)
    if not has_called and any(tool["name"] == "calculator" for tool in body.get("tools") or []):
        call = {"type": "function_call", "call_id": "c1", "name": "calculator"}
        return response({**call, "arguments": json.dumps({"expression": "6 * 7"})})
    found = re.findall(r"What is ([-+\d ]+)\?", prompt)
    terms = re.findall(r"[+-]? ?\d+", found[-1]) if found else []
    answer = sum(int(term.replace(" ", "")) for term in terms) if found else "nothing"
    text = {"type": "output_text", "text": f"<answer>{answer}</answer>", "annotations": []}
    return response({"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": [text]})


def response(item: dict) -> dict:
    fixed = {"id": "r1", "object": "response", "created_at": 0, "model": "script", "status": "completed"}
    return {**fixed, "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


def serve(apps: list[tuple[FastAPI, dict]]) -> None:
    """Serves in one thread: all agents share one HTTP client."""
    servers = [uvicorn.Server(uvicorn.Config(app, **at, log_level="error")) for app, at in apps]

    async def run() -> None:
        await asyncio.gather(*(server.serve() for server in servers))

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    while not all(server.started for server in servers):
        time.sleep(0.05)


def post(at: dict, path: str, body: dict) -> dict:
    url = f"http://{at['host']}:{at['port']}{path}"
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=60) as answered:
        return json.loads(answered.read())


def play(at: dict, rows: list[dict]) -> dict:
    results = [post(at, "/run", row) for row in rows]
    outputs = [item for result in results for item in result["response"]["output"]]
    metrics = post(at, "/aggregate_metrics", {"verify_responses": results})
    return {
        "rewards": [result["reward"] for result in results],
        "terminated": [result["terminated"] for result in results],
        "tool_outputs": [item["output"] for item in outputs if item["type"] == "function_call_output"],
        "mean": metrics["key_metrics"].get("mean/reward"),
    }


def main() -> None:
    span = f"start={arguments.start}&stop={arguments.start + arguments.rows}"
    with urlopen(f"{arguments.url}/rows?{span}", timeout=60) as answered:
        rows = [json.loads(line) for line in answered.read().splitlines()]
    client = ServerClient(
        head_server_config=BaseServerConfig(**CONFIG["head_server"]), global_config_dict=OmegaConf.create(CONFIG)
    )
    parts = {
        "resources_server": ResourcesServerRef(type="resources_servers", name="environment"),
        "model_server": ModelServerRef(type="responses_api_models", name="policy_model"),
        "entrypoint": "app.py",
    }
    simple = SimpleAgent(config=SimpleAgentConfig(name="simple_agent", **SIMPLE, **parts), server_client=client)
    gymnasium = GymnasiumAgent(
        config=GymnasiumAgentConfig(name="gymnasium_agent", **GYMNASIUM, **parts), server_client=client
    )
    serve([(model, MODEL), (simple.setup_webserver(), SIMPLE), (gymnasium.setup_webserver(), GYMNASIUM)])
    print(json.dumps({"simple": play(SIMPLE, rows), "gymnasium": play(GYMNASIUM, rows)}), flush=True)
    # The HTTP client of NeMo Gym is not closed, and complains at the end.
    os._exit(0)


main()
