"""PettingZoo's agent-environment cycle (AEC) for environments of a server. Needs gymnasium and pettingzoo."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from mrlm_client.client import Client
from mrlm_client.errors import MrlmError
from mrlm_client.spaces import Utf8, actions_space, info_of, message_of, reset_arguments
from mrlm_client.values import Observation, Score


class Env(AECEnv[str, Any, Any]):
    """Environment with one agent or many. Arguments and actions are those of the `Env` for Gymnasium.

    - An observation is a text as UTF-8 in uint8 [max_bytes], padded with zeros; `text_of` returns it.
    - `None` from a living agent: its context is full, and it takes no further turn.
    - Agents of a role with several join `agents` when they appear, at most 8: `many={"browser": 4}` changes it.
    - A step with a reward that could not be computed raises `UnscoredError` in the end; the reward is NaN.
    - `late_rewards` has what agents earned after they were removed.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "mrlm_v1", "render_modes": [], "is_parallelizable": False}

    def __init__(
        self,
        address: str,
        environment: str,
        options: Mapping[str, Any] | None = None,
        *,
        actions: Sequence[str] | None = None,
        many: Mapping[str, int] | None = None,
        max_bytes: int = 4096,
        **connection: Any,
    ) -> None:
        self._client, self._actions = Client(address, **connection), actions
        self._session = self._client.open(environment, options)
        self._random, roles = np.random.default_rng(), self._session.description.roles
        self._first = [role.id for role in roles if not role.many]
        self.possible_agents = [agent for role in roles for agent in role.agents((many or {}).get(role.id, 8))]
        self._texts = Utf8(max_bytes)
        self._choices = {agent: actions_space(actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._texts

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._choices[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._random = self._random if seed is None else np.random.default_rng(seed)
        observation = self._session.reset(**reset_arguments(self._session, self._random, seed, options))
        self.agents, self._ended, self._skip_agent_selection = [], set[str](), None
        self.rewards, self._cumulative_rewards, self.late_rewards, self._observed = {}, {}, {}, {}
        self.terminations, self.truncations, self.infos = {}, {}, {}
        self._observe(observation, self._first)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            self._ended.add(agent)
            return
        message = message_of(action, self._actions) or ""
        result = self._session.step(message, agent=agent, finish_reason="exhausted" if action is None else "stop")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._observe(result.observation, [*result.rewards, *result.terminated, *result.truncated])
        for other, reward in result.rewards.items():
            rewards = self.late_rewards if other in self._ended else self.rewards
            rewards[other] = rewards.get(other, 0.0) + (reward.value if isinstance(reward, Score) else float("nan"))
            self.infos.get(other, {}).update(components=dict(getattr(reward, "components", {})))
        for ends, given in ((self.terminations, result.terminated), (self.truncations, result.truncated)):
            ends.update({other: ends[other] or over for other, over in given.items() if other in ends})
        self._accumulate_rewards()
        self._deads_step_first()
        result.reward()

    def observe(self, agent: str) -> Any:
        return self._texts.encode(self._observed.get(agent, ""))

    def close(self) -> None:
        self._client.close()

    def _observe(self, observation: Observation, appeared: Sequence[str]) -> None:
        """Adds agents that have appeared. Selects the one on turn; after the end, one that has ended."""
        for agent in filter(None, dict.fromkeys([*appeared, observation.agent])):
            if agent not in self.possible_agents:
                raise MrlmError("ROLES_UNSUPPORTED", f"{agent} is one too many.", "Raise `many` for its role.")
            if agent not in {*self.agents, *self._ended}:
                self.agents.append(agent)
                self.rewards[agent] = self._cumulative_rewards[agent] = 0.0
                self.terminations[agent], self.truncations[agent], self.infos[agent] = False, False, {}
        self.agent_selection = observation.agent or self.agents[0]
        self._observed[observation.agent] = observation.text
        self.infos.get(observation.agent, {}).update(info_of(observation))
