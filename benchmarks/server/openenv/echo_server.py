"""Serve the echo environment over OpenEnv's WebSocket in one process.

    python echo_server.py sync|async MAX_SESSIONS

`sync` has the methods that OpenEnv requires, which run in a thread for each session. `async` also has the optional
asynchronous ones, which run in the event loop. The first line of the output is the port.
"""

import asyncio
import socket
import sys
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class EchoAction(Action):
    text: str


class EchoObservation(Observation):
    text: str


class EchoEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(self, **_: Any) -> EchoObservation:
        self._state = State()
        return EchoObservation(text="Send any text.")

    def step(self, action: EchoAction, **_: Any) -> EchoObservation:
        self._state.step_count += 1
        return EchoObservation(text=action.text, reward=len(action.text))

    @property
    def state(self) -> State:
        return self._state


class AsyncEchoEnvironment(EchoEnvironment):
    async def reset_async(self, **options: Any) -> EchoObservation:
        return self.reset(**options)

    async def step_async(self, action: EchoAction, **options: Any) -> EchoObservation:
        return self.step(action, **options)


async def serve(environment: type[EchoEnvironment], max_sessions: int) -> None:
    app = create_fastapi_app(environment, EchoAction, EchoObservation, max_concurrent_envs=max_sessions)
    listener = socket.create_server(("127.0.0.1", 0), backlog=max_sessions)
    print(listener.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


if __name__ == "__main__":
    kind, sessions = sys.argv[1:]
    asyncio.run(serve(AsyncEchoEnvironment if kind == "async" else EchoEnvironment, int(sessions)))
