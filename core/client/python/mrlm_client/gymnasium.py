"""Gymnasium's `Env` for environments of a server. Needs the package gymnasium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, SupportsInt

import gymnasium

from mrlm_client.client import Client
from mrlm_client.spaces import FreeText, actions_space, info_of, message_of, reset_arguments
from mrlm_client.values import ActionMessage, Score, one_agent


class Env(gymnasium.Env[str, Any]):
    """Environment with one agent, in a session of its own.

    - An observation is the text of the messages that are new. `info` has the messages, and the tools if they changed.
    - An action is a text, with `actions` the index of one, or one or several `ToolCall`s.
    - `reset(seed=..., options={"task": "train/3"})` chooses the episode. Without a seed it draws one.
    - A reward that could not be computed raises `UnscoredError`, which has the `result` of the step.

    Args:
        address: host and port of the server.
        environment: id of the environment, for example `math@2`.
        options: options of the environment.
        actions: texts to choose from; default: any text.
        connection: arguments of `Client`, such as `token` and `tls`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        address: str,
        environment: str,
        options: Mapping[str, Any] | None = None,
        *,
        actions: Sequence[str] | None = None,
        **connection: Any,
    ) -> None:
        self._client = Client(address, **connection)
        self._session = self._client.open(environment, options)
        self._agent = one_agent(self._session.description, "Gymnasium")
        self._actions = actions
        self.observation_space = FreeText()
        self.action_space = actions_space(actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        observation = self._session.reset(**reset_arguments(self._session, self.np_random, seed, options))
        return observation.text, info_of(observation)

    def step(self, action: ActionMessage | SupportsInt) -> tuple[str, float, bool, bool, dict[str, Any]]:
        result = self._session.step(message_of(action, self._actions))
        reward = result.reward(self._agent)
        info = info_of(result.observation) | dict(result.info)
        given = result.rewards.get(self._agent)
        if isinstance(given, Score):
            info["components"] = dict(given.components)
        terminated, truncated = (ends.get(self._agent, False) for ends in (result.terminated, result.truncated))
        return result.observation.text, reward, terminated, truncated, info

    def close(self) -> None:
        self._client.close()
