"""PettingZoo's agent-environment cycle (AEC) for environments of a server that `mrlm serve` started."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, SupportsInt

import grpc
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "protos"))
messages, services = grpc.protos_and_services("mrlm/env/v1/environment.proto")
errors = grpc.protos("mrlm/common/v1/error.proto")

LEASE_MS = 600_000

Action = str | int | Mapping[str, Any] | None


class MrlmError(RuntimeError):
    """Error of the server, with its stable code and advice."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(f"{code}: {message} {hint}".rstrip())
        self.code = code


class TextAction(spaces.Text):
    """Any text. Samples are of letters, digits and spaces."""

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)


class MrlmAECEnv(AECEnv):
    """Environment of a server as a PettingZoo AEC environment, with one session.

    - An observation is the text of the messages that are new to the agent: its UTF-8 bytes as uint8 [max_bytes],
      padded with zeros. `text_of` returns the text. `infos[agent]` has the messages themselves.
    - An action is a text, with `actions` the index of one, or `{"text": ..., "tool_calls": [{"name": ..., "arguments":
      {...}}]}`. `None` from a living agent states that its context is full: it takes no further turn.
    - `infos[agent]["tools"]` has the tools that an observation offers.
    - `reset(seed=..., options={"task": "train/3"})` chooses the episode. Without a seed it draws one.
    - An unscored reward is NaN, never 0, and `infos[agent]["unscored"]` has its code.
    - `late_rewards` has what agents earned after they were removed.

    Args:
        address: host and port of the server.
        environment: id of the environment, for example `nim@1`.
        options: options of the environment.
        actions: texts to choose from; default: any text.
        many: largest number of agents of each role that can have several.
        token: token of a server that was started with `--token-file`.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "mrlm_v1", "render_modes": [], "is_parallelizable": False}
    render_mode = None

    def __init__(
        self,
        address: str,
        environment: str,
        options_json: str = "",
        *,
        actions: Sequence[str] | None = None,
        many: Mapping[str, int] | None = None,
        max_bytes: int = 4096,
        token: str | None = None,
    ) -> None:
        super().__init__()
        self._channel = grpc.insecure_channel(address)
        self._stub = services.EnvironmentServiceStub(self._channel)
        self._metadata = [("mrlm-client", secrets.token_hex(16))]
        if token is not None:
            self._metadata.append(("authorization", f"Bearer {token}"))
        self._reference = messages.EnvironmentRef(id=environment, options_json=options_json)
        self._session = secrets.token_bytes(16)
        self._epoch = self._index = 0
        self._random = np.random.default_rng()
        self._actions = actions
        self._max_bytes = max_bytes

        (described,) = self._call("Describe", messages.DescribeRequest(environment=self._reference)).environments
        self._takes_seed = described.determinism != messages.DETERMINISM_NONE
        limits = {role.id: (many or {}).get(role.id, 8) if role.many else None for role in described.roles}
        self._fixed_agents = [role for role, limit in limits.items() if limit is None]
        self.possible_agents = [
            agent
            for role, limit in limits.items()
            for agent in ([role] if limit is None else [f"{role}#{i + 1}" for i in range(limit)])
        ]
        self.observation_spaces = {agent: spaces.Box(0, 255, (max_bytes,), np.uint8) for agent in self.possible_agents}
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: TextAction(16) if actions is None else spaces.Discrete(len(actions))
            for agent in self.possible_agents
        }
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self._random = np.random.default_rng(seed)
        request = messages.ResetRequest(
            session_id=self._session,
            epoch=self._epoch + 1,
            environment=self._reference,
            task=(options or {}).get("task", ""),
            lease_ms=LEASE_MS,
        )
        if self._takes_seed:
            request.seed = int(self._random.integers(2**31)) if seed is None else seed
        response = self._call("Reset", request)
        self._epoch, self._index = self._epoch + 1, 0
        self._skip_agent_selection = None
        self._removed: set[str] = set()
        self._observed: dict[str, Any] = {}
        self.late_rewards: dict[str, float] = {}
        self.agents = []
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        for agent in self._fixed_agents:
            self._add(agent)
        self._observe(response.observation)

    def step(self, action: Action) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        result = self._call("Step", self._step_request(agent, action))
        self._index += 1
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        for other in [*result.rewards, *result.terminated, *result.truncated]:
            self._add(other)
        for other, reward in result.rewards.items():
            self._reward(other, reward)
        for ends, given in ((self.terminations, result.terminated), (self.truncations, result.truncated)):
            for other, has_ended in given.items():
                if other not in self._removed:
                    ends[other] = ends[other] or has_ended
        self._observe(result.observation)
        self._accumulate_rewards()
        self._deads_step_first()

    def observe(self, agent: str) -> np.ndarray[Any, Any]:
        observed = self._observed.get(agent)
        text = "" if observed is None else "\n".join(map(_text_of_message, observed.messages))
        encoded = text.encode()
        if len(encoded) > self._max_bytes:
            raise ValueError(
                f"The observation of {agent} has {len(encoded)} bytes. Raise max_bytes ({self._max_bytes})."
            )
        return np.frombuffer(encoded.ljust(self._max_bytes, b"\0"), np.uint8).copy()

    def render(self) -> None:
        """Has nothing to draw."""

    def close(self) -> None:
        if self._epoch > 0:
            self._call("Close", messages.CloseRequest(session_id=self._session))
            self._epoch = 0
        self._channel.close()

    def _step_request(self, agent: str, action: Action) -> Any:
        given = self._actions[int(action)] if self._actions is not None and isinstance(action, SupportsInt) else action
        message = _message({"text": given} if isinstance(given, str) else given or {})
        reason = messages.FINISH_REASON_EXHAUSTED if given is None else messages.FINISH_REASON_STOP
        return messages.StepRequest(
            session_id=self._session,
            epoch=self._epoch,
            index=self._index,
            action=messages.Action(agent=agent, message=message, finish_reason=reason),
        )

    def _add(self, agent: str) -> None:
        """Adds an agent that has appeared, unless it is known."""
        if agent in self.agents or agent in self._removed:
            return
        if agent not in self.possible_agents:
            raise ValueError(
                f"{agent} has appeared, which is none of {self.possible_agents}. Raise `many` for its role."
            )
        self.agents.append(agent)
        self.rewards[agent] = self._cumulative_rewards[agent] = 0.0
        self.terminations[agent] = self.truncations[agent] = False
        self.infos[agent] = {}

    def _reward(self, agent: str, reward: Any) -> None:
        scored = reward.WhichOneof("result") == "score"
        value = reward.score.value if scored else float("nan")
        if agent in self._removed:
            self.late_rewards[agent] = self.late_rewards.get(agent, 0.0) + value
            return
        self.rewards[agent] = value
        details = {"components": dict(reward.score.components)} if scored else {"unscored": reward.unscored.code}
        self.infos[agent] = {**self.infos[agent], **details}

    def _observe(self, observation: Any) -> None:
        """Selects the agent on turn; at the end of the episode, where there is none, an agent that has ended."""
        agent = observation.agent
        if agent == "":
            self.agent_selection = self.agents[0]
            return
        self._add(agent)
        self._observed[agent] = observation
        self.infos[agent] = {
            "messages": [{"role": each.role, "text": _text_of_message(each)} for each in observation.messages],
            "is_fresh": observation.is_fresh,
        }
        if observation.HasField("tools"):
            self.infos[agent]["tools"] = [
                {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters_json)}
                for tool in observation.tools.tools
            ]
        self.agent_selection = agent

    def _was_dead_step(self, action: Any) -> None:
        agent = self.agent_selection
        super()._was_dead_step(action)
        self._removed.add(agent)

    def _call(self, method: str, request: Any) -> Any:
        try:
            return getattr(self._stub, method)(request, metadata=self._metadata)
        except grpc.RpcError as failure:
            trailing = dict(failure.trailing_metadata() or ())
            if "mrlm-error-bin" not in trailing:
                raise
            detail = errors.ErrorDetail.FromString(trailing["mrlm-error-bin"])
            raise MrlmError(detail.code, detail.message, detail.hint) from failure


def text_of(observation: np.ndarray[Any, Any]) -> str:
    """Returns the text of an observation."""
    return observation.tobytes().rstrip(b"\0").decode()


def _message(action: Mapping[str, Any]) -> Any:
    """Returns the message of an action in its long form."""
    parts = [messages.Part(text=messages.TextPart(text=action["text"]))] if "text" in action else []
    for index, call in enumerate(action.get("tool_calls", [])):
        arguments = json.dumps(call["arguments"])
        part = messages.ToolCallPart(id=f"call-{index}", name=call["name"], arguments_json=arguments)
        parts.append(messages.Part(tool_call=part))
    return messages.Message(role="assistant", parts=parts)


def _text_of_message(message: Any) -> str:
    """Returns the text of a message, with that of tool results."""
    texts = []
    for part in message.parts:
        kind = part.WhichOneof("part")
        if kind == "text":
            texts.append(part.text.text)
        elif kind == "tool_result":
            texts.append(_text_of_message(part.tool_result))
    return "".join(texts)
