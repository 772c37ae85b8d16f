"""Tools of environments for verl's agent loop. Needs the package verl."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from typing import Any

from verl.tools.base_tool import BaseTool
from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse

from mrlm_client.client import Session
from mrlm_client.errors import MrlmError
from mrlm_client.tools import call_tool, is_fault, tools_of
from mrlm_client.values import Unscored, one_agent
from mrlm_client.verl import UNSCORED, client_of


class Trajectory:
    """Session of a trajectory of verl, for all of its tools."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.session: Session | None = None


#: By the trajectory's data. A session is closed when verl no longer refers to the data.
trajectories: weakref.WeakKeyDictionary[Any, Trajectory] = weakref.WeakKeyDictionary()


class EnvironmentTool(BaseTool):
    """Tool of an environment, or `submit`. The tools of a trajectory act in one session.

    `config`: `address`, `environment`, `tool` (default: `submit`), `options`, `token_env`, `ca_file`.
    `create_kwargs` of a row: `task`, and `seed` if the environment takes one.
    """

    def __init__(self, config: Mapping[str, Any], tool_schema: OpenAIFunctionToolSchema | None = None) -> None:
        with open_session(config) as session:
            one_agent(session.description, "verl")
            self._tool = tools_of(session.reset())[config.get("tool", "submit")]
        function = {name: getattr(self._tool, name) for name in ("name", "description", "parameters")}
        super().__init__(config, tool_schema or OpenAIFunctionToolSchema(type="function", function=function))

    async def execute(
        self, instance_id: str, parameters: dict[str, Any], *, agent_data: Any, **_: Any
    ) -> tuple[ToolResponse, float | None, dict[str, Any]]:
        trajectory = trajectories.setdefault(agent_data, Trajectory())
        async with trajectory.lock:
            try:
                text, reward = await asyncio.to_thread(self._call, trajectory, agent_data, parameters)
            except MrlmError as error:
                # verl would count a raised error as a reward of 0.
                text, reward = str(error), Unscored(error.code, error.message) if is_fault(error) else None
        if isinstance(reward, Unscored):
            agent_data.extra_fields[UNSCORED] = [reward.code, reward.message]
            reward = None
        return ToolResponse(text=text), reward, {}

    def _call(
        self, trajectory: Trajectory, agent_data: Any, parameters: dict[str, Any]
    ) -> tuple[str, Unscored | float | None]:
        if trajectory.session is None:
            trajectory.session = open_session(self.config)
            trajectory.session.reset(**agent_data.tools_kwargs.get(self.name, {}).get("create_kwargs", {}))
        return call_tool(trajectory.session, self._tool, parameters)


def open_session(config: Mapping[str, Any]) -> Session:
    client = client_of(config["address"], config.get("token_env"), config.get("ca_file"))
    return client.open(config["environment"], config.get("options"))
