"""Serves two environments of OpenEnv's own server classes on free ports: an echo, and a safe that tools open.

python server.py; the first line on stdout is JSON with the ports. Ends with its standard input.
"""

import json
import os
import socket
import sys
import threading
import time
from typing import Any

import uvicorn
from fastmcp import FastMCP
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Action, Observation, State


class EchoAction(Action):
    message: str


class EchoObservation(Observation):
    text: str


class Echo(Environment):
    """Repeats a message. The third one ends the episode; each earns a tenth of its length."""

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> EchoObservation:
        self._state = State(episode_id=episode_id)
        return EchoObservation(text=f"Write something (seed {seed}).")

    def step(self, action: EchoAction, timeout_s: float | None = None, **_: Any) -> EchoObservation:
        self._state.step_count += 1
        if action.message == "nan":
            return EchoObservation(text="nan", reward=float("nan"), done=True)
        if action.message == "raise":
            raise ValueError("the echo is broken")
        if action.message == "sleep":
            time.sleep(5)
        if action.message == "exit":
            os._exit(1)
        return EchoObservation(text=action.message, reward=len(action.message) / 10, done=self._state.step_count == 3)

    @property
    def state(self) -> State:
        return self._state


class Safe(MCPEnvironment):
    """A safe with two digits. Tools read each of them, and open it. A wrong code leaves it closed."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        server = FastMCP("safe")
        self._digits = (0, 0)
        self._reward: float | None = None
        self._state = State()

        @server.tool
        def read_digit(place: int) -> str:
            """Returns the digit at a place: 0 or 1."""
            return str(self._digits[place])

        @server.tool
        def open_safe(code: str) -> str:
            """Opens the safe by its two digits."""
            if code != f"{self._digits[0]}{self._digits[1]}":
                return "It stays closed."
            self._reward = 1.0
            return "It is open."

        super().__init__(server)

    def list_splits(self) -> list[str]:
        return ["train", "test"]

    def num_tasks(self, split: str) -> int:
        return 30 if split == "train" else 5

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, split: str = "train", index: int = 0, **_: Any
    ) -> Observation:
        self._digits = (index // 10, index % 10) if split == "train" else (9, index)
        self._reward = None
        self._state = State(episode_id=episode_id)
        return Observation(metadata={"split": split})

    def step(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        return self._scored(super().step(action, timeout_s=timeout_s, **kwargs))

    async def step_async(self, action: Action, timeout_s: float | None = None, **kwargs: Any) -> Observation:
        return self._scored(await super().step_async(action, timeout_s=timeout_s, **kwargs))

    def _step_impl(self, action: Action, timeout_s: float | None = None, **_: Any) -> Observation:
        raise ValueError("the safe has tools only")

    def _scored(self, observation: Observation) -> Observation:
        if self._reward is not None:
            observation.reward = self._reward
            observation.done = True
        return observation

    @property
    def state(self) -> State:
        return self._state


def serve(app: Any) -> int:
    """Serves an application on a free port, in a thread."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return int(listening.getsockname()[1])


ports = {
    "echo": serve(create_fastapi_app(Echo, EchoAction, EchoObservation)),
    "safe": serve(
        create_fastapi_app(Safe, CallToolAction, CallToolObservation, max_concurrent_envs=4, env_name="safe")
    ),
}
print(json.dumps(ports), flush=True)
sys.stdin.read()
os._exit(0)
