"""Runs the README's example of verifiers: python check.py ADDRESS README. The last line is JSON.

A chat server of this process answers: sums rightly, other tasks by "nothing", and outcomes@1 by their names.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ADDRESS, README = sys.argv[1], Path(sys.argv[2]).read_text("utf-8").split("\n## verifiers\n")[1].split("\n## ")[0]
#: Replies to outcomes@1 by task.
OUTCOMES = {"train/0": ["fine", "end"], "train/1": ["fine", "unscored"]}


def answer(messages: list[dict]) -> str:
    replies = sum(message["role"] == "assistant" for message in messages)
    outcomes = re.search(r"Name an outcome of (train/\d)", json.dumps(messages))
    if outcomes:
        return OUTCOMES[outcomes[1]][replies]
    found = re.search(r"What is ([-+\d ]+)\?", json.dumps(messages))
    terms = re.findall(r"[+-]? ?\d+", found[1]) if found else []
    return f"<answer>{sum(int(term.replace(' ', '')) for term in terms) if terms else 'nothing'}</answer>"


class Chat(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = answer(request["messages"])
        common = {"id": "chat-1", "created": 0, "model": request["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
            return self.reply("application/json", body)
        delta = {"role": "assistant", "content": text}
        pieces = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
        ]
        chunk = {**common, "object": "chat.completion.chunk"}
        return self.reply("text/event-stream", *({**chunk, **piece} for piece in pieces))

    def reply(self, kind: str, *bodies: dict) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
        texts = [json.dumps(body) for body in bodies]
        if kind == "text/event-stream":
            texts = [f"data: {text}\n\n" for text in (*texts, "[DONE]")]
        self.wfile.write("".join(texts).encode())

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


def evaluate(changes: dict[str, str]) -> dict:
    """Runs vf-eval by the README's file with changes. Returns the rewards, metrics and errors of the traces."""
    (config,) = re.findall(r"```\n(model = .*?)```", README, re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        own = {"127.0.0.1:50051": ADDRESS, 'output_dir = "outputs"': f'output_dir = "{folder}"'}
        for given, used in {**own, **changes}.items():
            assert given in config, given
            config = config.replace(given, used)
        (Path(folder) / "run.toml").write_text(config)
        command = [str(Path(sys.executable).parent / "vf-eval"), "@", f"{folder}/run.toml", "--no-rich"]
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        env = {**os.environ, "MY_API_KEY": "none", "PATH": path}
        done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, timeout=200)
        files = list(Path(folder).rglob("traces.jsonl"))
        if not files:
            raise AssertionError(done.stdout + done.stderr)
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    traces = {
        (trace := episode["traces"][0])["task"]["data"]["task"]: {
            "replies": [node["message"]["content"] for node in trace["nodes"] if node["sampled"]],
            "rewards": {name: reward["score"] for name, reward in trace["rewards"].items()},
            "metrics": trace["metrics"],
        }
        for episode in lines
        if episode["traces"]
    }
    unrewarded = [task for task, trace in traces.items() if not trace["rewards"]]
    return {
        "traces": traces,
        "unrewarded": unrewarded,
        "errors": [error["message"] for episode in lines for error in episode["errors"]],
    }


server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = {"127.0.0.1:8000": f"127.0.0.1:{server.server_port}"}
names = {"math": "math@2", "outcomes": "outcomes@1", "tools": "tools@2"}
limits = {"math": 6, "outcomes": 2, "tools": 1}
found = {
    name: evaluate({**url, "math@2": environment, "limit = 8": f"limit = {limits[name]}"})
    for name, environment in names.items()
}
print(json.dumps(found))
