"""Taskset and environment for verifiers 0.4, with the id `mrlm-verifiers`. Needs the package verifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from mrlm_client.aio import AsyncClient
from mrlm_client.client import Client
from mrlm_client.errors import MrlmError
from mrlm_client.settings import connection
from mrlm_client.values import Score, one_agent

__all__ = ["MrlmConfig", "MrlmData", "MrlmEnv", "MrlmEnvConfig", "MrlmTask", "MrlmTaskset"]


class MrlmData(vf.TaskData):
    task: str
    """`split/index`. The server has the rest of the task."""


class MrlmConfig(vf.TasksetConfig):
    address: str = "127.0.0.1:50051"
    """Host and port of the server."""
    environment: str = ""
    """Id of an environment with one agent and without tools, for example `math@2`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the environment."""
    split: str = "train"
    token_env: str | None = None
    """Name of the environment variable that holds the token."""
    ca_file: str | None = None
    """Certificates of the authorities that sign the server's certificate, in PEM form."""


class MrlmTask(vf.Task[MrlmData]):
    pass


class MrlmTaskset(vf.Taskset[MrlmTask, MrlmConfig]):
    """Tasks of one split."""

    def load(self) -> Iterator[MrlmTask]:
        config = self.config
        with Client(config.address, **connection(config.token_env, config.ca_file)) as client:
            splits = client.open(config.environment, config.options).description.splits
        if config.split not in splits:
            message = f"Environment {config.environment} has no split {config.split}, but {', '.join(splits)}."
            raise MrlmError("TASK_NOT_FOUND", message, "Correct `split`.")
        for index in range(splits[config.split]):
            task = f"{config.split}/{index}"
            yield MrlmTask(MrlmData(name=f"{config.environment} {task}", prompt=None, task=task), config.task)


class MrlmEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig()


class MrlmEnv(vf.Env[MrlmEnvConfig]):
    """Plays the environment's side of the conversation: its observations are turns of the user, the replies are steps.

    The reward `environment` is the sum of the steps' rewards. The metrics are the sums of their components. A reward
    that could not be computed fails the episode, so that it has none.
    """

    async def run(self, task: MrlmTask, agents: vf.Agents) -> None:
        config = self.taskset.config
        async with AsyncClient(config.address, **connection(config.token_env, config.ca_file)) as client:
            session = await client.open(config.environment, config.options)
            one_agent(session.description, "verifiers")
            observation = await session.reset(task=task.data.task)
            if observation.tools:
                message = f"Environment {config.environment} has tools, and this adapter sends texts alone."
                raise MrlmError(
                    "TOOLS_UNSUPPORTED",
                    message,
                    "Use the taskset nemo_gym of verifiers, and mrlm serve --dialects nemo-gym.",
                )
            total, components = 0.0, dict[str, float]()
            async with agents.agent.interaction(task) as interaction:
                segment = await interaction.turn(observation.text)
                while not segment.terminated:
                    result = await session.step(segment.last_reply)
                    total += result.reward()
                    for reward in result.rewards.values():
                        for name, value in reward.components.items() if isinstance(reward, Score) else ():
                            components[name] = components.get(name, 0.0) + value
                    if result.has_ended:
                        break
                    segment = await interaction.turn(result.observation.text)
                interaction.trace.record_reward("environment", total)
                interaction.trace.record_metrics(components)
