"""Environments of a server for TRL's `GRPOTrainer(environment_factory=...)`. Imports nothing of TRL."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from mrlm_client.client import Client, Session
from mrlm_client.errors import MrlmError
from mrlm_client.tools import PythonForm, call_tool, is_fault, tools_of
from mrlm_client.values import Tool, Unscored, one_agent


def environment_factory(
    address: str,
    environment: str,
    options: Mapping[str, Any] | None = None,
    *,
    task: str | None = None,
    **connection: Any,
) -> type[Episode]:
    """Makes the class whose public methods are the tools of an environment, and `submit` for answers in text.

    A row of the data set may have `task` and `seed`. A reward that could not be computed, or a fault, is None: TRL
    leaves the rollout out of its group.

    Args:
        address: host and port of the server.
        environment: id of an environment with one agent.
        options: options of the environment.
        task: task whose tools are read; all must have the same. Default: one that the environment chooses.
        connection: arguments of `Client`, such as `token` and `tls`.
    """
    client = Client(address, **connection)
    with client.open(environment, options) as session:
        one_agent(session.description, "TRL")
        tools = tools_of(session.reset(task=task))
    methods = {name: _method(tool) for name, tool in tools.items()}
    opened = staticmethod(lambda: client.open(environment, options))
    return type("MrlmEnvironment", (Episode,), {**methods, "_open": opened})


class Episode:
    """Episodes of one rollout slot, one after the other."""

    _open: Callable[[], Session]

    def __init__(self) -> None:
        self._session = self._open()
        self._reward: float | None = 0.0

    def reset(self, task: str | None = None, seed: int | None = None, **_: Any) -> str:
        self._reward = 0.0
        return self._session.reset(task=task, seed=seed).text

    def get_reward(self) -> float | None:
        """Returns the sum of the rewards of the episode; None if one could not be computed."""
        return self._reward

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        try:
            text, reward = call_tool(self._session, tool, arguments)
        except MrlmError as error:
            self._reward = None if is_fault(error) else self._reward
            raise
        self._reward = None if self._reward is None or isinstance(reward, Unscored) else self._reward + reward
        return text


def _method(tool: Tool) -> Callable[..., str]:
    """Returns the method of a tool, with the types and the docstring from which TRL makes its schema."""
    if not tool.name.isidentifier() or tool.name.startswith("_") or tool.name in ("reset", "get_reward"):
        message = f"The tool {tool.name} cannot be a method of TRL's environment."
        raise MrlmError("OPTIONS_INVALID", message, "Rename the tool.")

    form = PythonForm(tool)

    def method(self: Episode, **arguments: Any) -> str:
        return self._call(tool, {form.names.get(name, name): value for name, value in arguments.items()})

    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = form.doc
    method.__annotations__ = {each.name: each.annotation for each in form.parameters} | {"return": str}
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = inspect.Signature([first, *form.parameters])  # type: ignore[attr-defined]
    return method
