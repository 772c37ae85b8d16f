"""Values that cross the wire, as dataclasses. The terms are those of docs/glossary.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from mrlm_client.errors import MrlmError, UnscoredError


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Thinking:
    """Reasoning of a policy."""

    text: str


@dataclass(frozen=True)
class Image:
    """Picture, as bytes or as a URL."""

    media_type: str
    data: bytes | None = None
    url: str | None = None


@dataclass(frozen=True)
class ToolCall:
    name: str
    arguments: Mapping[str, Any]
    id: str = "call-0"


@dataclass(frozen=True)
class MalformedCall:
    """Call of a tool that a policy wrote wrongly. `offset` is that of the fault in `text`, in UTF-16 units."""

    text: str
    format: str
    error: str
    offset: int = 0


@dataclass(frozen=True)
class ToolResult:
    id: str
    name: str
    parts: tuple[Text | Image, ...]
    is_error: bool = False


Part: TypeAlias = Text | Thinking | Image | ToolCall | MalformedCall | ToolResult


@dataclass(frozen=True)
class Message:
    """Message of a conversation. `role` is `system`, `user`, `assistant` or `tool`."""

    role: str
    parts: tuple[Part, ...]
    name: str = ""

    @property
    def text(self) -> str:
        """Text of the message, with that of tool results. Reasoning and images are left out."""
        texts = []
        for part in self.parts:
            if isinstance(part, Text):
                texts.append(part.text)
            elif isinstance(part, ToolResult):
                texts += [each.text for each in part.parts if isinstance(each, Text)]
        return "".join(texts)


#: Message of a policy: a text, tool calls, or a whole message.
ActionMessage: TypeAlias = str | ToolCall | list[ToolCall] | tuple[ToolCall, ...] | Message

FinishReason: TypeAlias = Literal["stop", "length", "exhausted"]


@dataclass(frozen=True)
class Tool:
    """Function that a policy may call. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Observation:
    """Input of the next agent to act.

    Attributes:
        agent: the next agent to act; empty after the end of the episode.
        messages: those that are new since the last observation of this agent.
        tools: tools from this turn on; None if they have not changed.
        info: data for logs, which a policy does not receive.
        is_fresh: the conversation of the agent starts over.
    """

    agent: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    is_fresh: bool = False

    @property
    def text(self) -> str:
        """Texts of the messages, one below the other."""
        return "\n".join(message.text for message in self.messages)


@dataclass(frozen=True)
class Score:
    value: float
    components: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Unscored:
    """Reward that could not be computed: never a score of 0."""

    code: str
    message: str


@dataclass(frozen=True)
class StepResult:
    """Result of an action. Rewards and ends are keyed by agent."""

    observation: Observation
    rewards: Mapping[str, Score | Unscored]
    terminated: Mapping[str, bool]
    truncated: Mapping[str, bool]
    info: Mapping[str, Any]

    @property
    def has_ended(self) -> bool:
        """Whether the episode is over for all agents."""
        return self.observation.agent == ""

    def reward(self, agent: str | None = None) -> float:
        """Returns the reward of an agent by this step; without `agent`, the sum of all. An agent without one earned 0.

        Raises:
            UnscoredError: a reward could not be computed.
        """
        total = 0.0
        for name, reward in self.rewards.items():
            if agent not in (None, name):
                continue
            if isinstance(reward, Unscored):
                raise UnscoredError(name, reward, self)
            total += reward.value
        return total


@dataclass(frozen=True)
class Role:
    """Position of an agent. With `many`, an episode can have several agents in it: `browser#1`, `browser#2`, ..."""

    id: str
    description: str
    many: bool

    def agents(self, count: int) -> list[str]:
        """Returns the ids of its agents: `count` if it can have several."""
        return [f"{self.id}#{i + 1}" for i in range(count)] if self.many else [self.id]


@dataclass(frozen=True)
class Description:
    """Description of an environment under its options.

    Attributes:
        determinism: `full`, `replayable` or `none`. One with `none` takes no seed.
        splits: number of tasks of each split; empty where tasks cannot be listed.
        max_turns: turns after which an episode is truncated; 0: no limit.
    """

    id: str
    description: str
    determinism: str
    roles: tuple[Role, ...]
    splits: Mapping[str, int]
    options_schema: Mapping[str, Any]
    reward_components: tuple[str, ...]
    max_turns: int

    @property
    def takes_seed(self) -> bool:
        return self.determinism != "none"


def one_agent(description: Description, framework: str) -> str:
    """Returns the agent of an environment with one.

    Raises:
        MrlmError: ROLES_UNSUPPORTED for an environment with several.
    """
    if len(description.roles) == 1 and not description.roles[0].many:
        return description.roles[0].id
    roles = ", ".join(role.id for role in description.roles)
    message = f"Environment {description.id} has several agents (roles: {roles}), and {framework} acts for one."
    raise MrlmError("ROLES_UNSUPPORTED", message, "Use mrlm_client.pettingzoo, which plays all of them.")
