"""Evaluates on an environment that `mrlm serve` offers to NeMo Gym, by the taskset `nemo_gym` of verifiers.

python run.py URL [--model NAME --base-url URL] [--rows N] [--start N]

URL is an environment of a server: http://127.0.0.1:8080/math@2 of mrlm serve --environments math --http-port 8080.
Without --model a script stands for the model: it calls the tool `calculator` where there is one, then answers sums.
OPENAI_API_KEY is the key of --base-url. The last line is JSON: the reward of each row.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

CONFIG = """
model = {model}
push = false
num_rollouts = 1
output_dir = {output}

[client]
base_url = {base_url}
api_key_var = "OPENAI_API_KEY"

[env.taskset]
id = "nemo_gym"
dataset = {dataset}

[env.taskset.task]
resources_url = {url}

[env.agent.harness]
id = "null"

[env.agent.runtime]
type = "subprocess"
"""


class Script(BaseHTTPRequestHandler):
    """Chat server that streams one message."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = answer(body["messages"], body.get("tools") or [])
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "script"}
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choices = (
            [{"index": 0, "delta": message, "finish_reason": None}],
            [{"index": 0, "delta": {}, "finish_reason": reason}],
        )
        lines = [json.dumps({**chunk, "choices": choice}) for choice in choices] + ["[DONE]"]
        sent = "".join(f"data: {line}\n\n" for line in lines).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        return


def answer(messages: list[dict], tools: list[dict]) -> dict:
    has_called = any(message["role"] == "tool" for message in messages)
    names = [tool["function"]["name"] for tool in tools]
    calculator = next((name for name in names if name.endswith("calculator")), None)
    if calculator is not None and not has_called:
        function = {"name": calculator, "arguments": json.dumps({"expression": "6 * 7"})}
        return {"role": "assistant", "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    found = re.findall(r"What is ([-+\d ]+)\?", str(messages))
    terms = re.findall(r"[+-]? ?\d+", found[-1]) if found else []
    value = sum(int(term.replace(" ", "")) for term in terms) if found else "nothing"
    return {"role": "assistant", "content": f"<answer>{value}</answer>"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--model", default="script")
    parser.add_argument("--base-url")
    parser.add_argument("--start", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2)
    arguments = parser.parse_args()
    base_url = arguments.base_url
    if base_url is None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base_url = f"http://127.0.0.1:{server.server_port}/v1"
        os.environ.setdefault("OPENAI_API_KEY", "none")
    with tempfile.TemporaryDirectory() as folder:
        dataset = Path(folder, "rows.jsonl")
        with urlopen(f"{arguments.url}/rows?start={arguments.start}&stop={arguments.start + arguments.rows}") as rows:
            dataset.write_bytes(rows.read())
        values = {"model": arguments.model, "base_url": base_url, "url": arguments.url, "dataset": str(dataset)}
        texts = {name: json.dumps(value) for name, value in {**values, "output": str(Path(folder, "out"))}.items()}
        config = Path(folder, "eval.toml")
        config.write_text(CONFIG.format(**texts))
        # The harness prepares its program by uv, which is beside this Python.
        programs = Path(sys.executable).parent
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        command = [programs / "vf-eval", "@", config, "--no-push", "--no-rich"]
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = [line for path in Path(folder).rglob("traces.jsonl") for line in path.read_text().splitlines()]
        if done.returncode != 0 or len(lines) == 0:
            sys.exit(f"vf-eval ended with {done.returncode}:\n{done.stdout.decode()}")
    traces = sorted((json.loads(line)["traces"][0] for line in lines), key=lambda trace: trace["task"]["data"]["idx"])
    messages = [node["message"] for trace in traces for node in trace["nodes"]]
    result = {
        "rewards": [trace["rewards"]["nemo_gym"]["score"] for trace in traces],
        "terminated": [trace["info"]["nemo_gym"]["terminated"] for trace in traces],
        "tool_outputs": [message["content"] for message in messages if message["role"] == "tool"],
    }
    print(json.dumps(result))


main()
