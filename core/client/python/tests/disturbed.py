"""Plays `chain@1` through proxies that reset connections: python disturbed.py MODE SEED STEPS RESETS ADDRESS...

MODE is `sync` or `async`. Plays one session at each address until STEPS steps and RESETS resets lost their connection.
With `--episodes N,N,...` plays so many episodes in each session instead. The last line is JSON: the calls that lost
their connection, the episodes and all observations, rewards and ends of each session.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import grpc

import mrlm_client.aio
import mrlm_client.client
from mrlm_client import AsyncClient, Client, Observation, StepResult
from mrlm_client.peer import Attempts

STEPS_PER_EPISODE = 3
LARGE_BYTES = 100_000

parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["sync", "async"])
parser.add_argument("seed", type=int)
parser.add_argument("steps", type=int)
parser.add_argument("resets", type=int)
parser.add_argument("addresses", nargs="+")
parser.add_argument("--episodes")
arguments = parser.parse_args()

kind: ContextVar[str] = ContextVar("kind")
losses: Counter[str] = Counter()


class CountingAttempts(Attempts):
    """Attempts that count the calls that lost their connection."""

    is_first = True

    def pause_after(self, failure: grpc.RpcError) -> float:
        pause = super().pause_after(failure)
        losses[kind.get()] += self.is_first
        self.is_first = False
        return pause


for module in (mrlm_client.client, mrlm_client.aio):
    setattr(module, "Attempts", CountingAttempts)  # noqa: B010


def is_enough(number: int, episodes: int) -> bool:
    if arguments.episodes is not None:
        return episodes >= int(arguments.episodes.split(",")[number])
    return bool(losses["step"] >= arguments.steps and losses["reset"] >= arguments.resets)


def shown(result: Observation | StepResult) -> Any:
    if isinstance(result, Observation):
        return result.text
    ends = [result.terminated, result.truncated, result.has_ended]
    return [result.observation.text, result.reward(), *ends]


def texts(number: int, episodes: int) -> list[str]:
    """Returns the actions of an episode. One of 30 is large."""
    drawn = random.Random(f"{arguments.seed} {number} {episodes}")
    sizes = [LARGE_BYTES * (drawn.random() < 1 / 30) for _ in range(STEPS_PER_EPISODE)]
    return [f"{episodes} {i} {'x' * size}" for i, size in enumerate(sizes)]


def play(number: int) -> tuple[int, list[Any]]:
    seen: list[Any] = []
    episodes = 0
    with Client(arguments.addresses[number]) as client:
        kind.set("open")
        session = client.open("chain@1")
        while not is_enough(number, episodes):
            kind.set("reset")
            seen.append(shown(session.reset(seed=arguments.seed + episodes)))
            kind.set("step")
            seen += [shown(session.step(text)) for text in texts(number, episodes)]
            episodes += 1
    return episodes, seen


async def play_async(number: int) -> tuple[int, list[Any]]:
    seen: list[Any] = []
    episodes = 0
    async with AsyncClient(arguments.addresses[number]) as client:
        kind.set("open")
        session = await client.open("chain@1")
        while not is_enough(number, episodes):
            kind.set("reset")
            seen.append(shown(await session.reset(seed=arguments.seed + episodes)))
            kind.set("step")
            for text in texts(number, episodes):
                seen.append(shown(await session.step(text)))
            episodes += 1
    return episodes, seen


async def all_of(of: Callable[[int], Coroutine[Any, Any, Any]]) -> list[Any]:
    return await asyncio.gather(*map(of, range(len(arguments.addresses))))


if arguments.mode == "async":
    plays = asyncio.run(all_of(play_async))
else:
    with ThreadPoolExecutor(len(arguments.addresses)) as threads:
        plays = list(threads.map(play, range(len(arguments.addresses))))
print(json.dumps({"losses": losses, "episodes": [each[0] for each in plays], "seen": [each[1] for each in plays]}))
