"""Serves an environment that is written with ors-sdk on a free port.

python server.py; the first line on stdout that begins with a brace is JSON with the port. Ends with its standard input.
"""

import json
import math
import os
import socket
import sys
import threading
import time
from typing import Any

import uvicorn
from ors import Environment, Server, TextBlock, ToolOutput, tool
from pydantic import BaseModel


class Guess(BaseModel):
    number: int


class Answer(BaseModel):
    text: str


class HigherLower(Environment):
    """A number to find. A guess is answered with "higher" or "lower"; the answer ends the episode."""

    @classmethod
    def list_splits(cls) -> list[str]:
        return ["train", "test"]

    @classmethod
    def list_tasks(cls, split: str) -> list[dict[str, Any]]:
        return [{"number": 10 + i if split == "train" else 90 + i} for i in range(20 if split == "train" else 5)]

    def get_prompt(self) -> list[TextBlock]:
        return [TextBlock(text="Find the number from 1 to 100.")]

    @tool
    def guess(self, params: Guess) -> ToolOutput:
        """Compares a number with the one to find."""
        hidden = self.task_spec["number"]
        words = "equal" if params.number == hidden else "higher" if hidden > params.number else "lower"
        return ToolOutput(blocks=[TextBlock(text=words)], metadata={"guessed": params.number})

    @tool
    def answer(self, params: Answer) -> ToolOutput:
        """Answers with the number."""
        if params.text == "nan":
            return ToolOutput(blocks=[], reward=math.nan, finished=True)
        if params.text == "none":
            return ToolOutput(blocks=[], finished=True)
        if params.text == "raise":
            raise ValueError("the judge is broken")
        if params.text == "long":
            return ToolOutput(blocks=[TextBlock(text="long " * 4_000)])
        if params.text == "exit":
            os._exit(1)
        is_right = params.text == str(self.task_spec["number"])
        return ToolOutput(blocks=[TextBlock(text="Done.")], reward=1.0 if is_right else 0.0, finished=True)


listening = socket.socket()
listening.bind(("127.0.0.1", 0))
server = uvicorn.Server(uvicorn.Config(Server([HigherLower]).app, log_level="error"))
threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
while not server.started:
    time.sleep(0.01)
print(json.dumps({"higherlower": int(listening.getsockname()[1])}), flush=True)
sys.stdin.read()
os._exit(0)
