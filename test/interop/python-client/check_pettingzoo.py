"""PettingZoo's own tests of the adapter, and those of rewards and of agents that end."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from pettingzoo.test import api_test, seed_test

from mrlm_client import MrlmError, ToolCall
from mrlm_client.pettingzoo import Env
from mrlm_client.spaces import text_of

#: Environments of PettingZoo's tests: id, options, texts to choose from.
ENVIRONMENTS: list[tuple[str, dict[str, Any], list[str] | None]] = [
    ("nim@1", {}, ["1", "2", "3", "none"]),
    ("nim@1", {"style": "terse"}, None),
    ("signals@1", {}, ["a", "b", "1", "2"]),
    ("consultation@1", {"questions": 2}, ["Have you a fever?", "Yes.", "No.", "Diagnosis: gout"]),
    ("debate@1", {"turns": 2}, None),
    ("math@2", {}, ["7", "12"]),
    ("relay@1", {}, None),
]


def check_pettingzoo(address: str) -> None:
    for environment, options, actions in ENVIRONMENTS:
        # Warnings concern observations of other kinds, such as images.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            env = Env(address, environment, options, actions=actions)
            api_test(env, num_cycles=100)
            env.close()
            seed_test(lambda e=environment, o=options, a=actions: Env(address, e, o, actions=a), num_cycles=50)


def play(env: Env, actions: list[Any]) -> list[tuple[Any, ...]]:
    """Plays an episode and returns the agent, reward since its last turn and end of each turn, dead ones included."""
    texts = iter(actions)
    seen = []
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        seen.append((agent, reward, terminated, truncated))
        env.step(None if terminated or truncated else next(texts))
    return seen


def check_rewards(address: str) -> None:
    """`last` returns what an agent has earned since its last turn, also by the turns of others."""
    env = Env(address, "nim@1", {"style": "terse"})
    env.reset(options={"task": "train/4"})
    assert text_of(env.observe("first")) == "5"
    assert play(env, ["1", "3", "1"]) == [
        ("first", 0, False, False),
        ("second", 0, False, False),
        ("first", 0, False, False),
        ("first", 1, True, False),
        ("second", -1, True, False),
    ]
    assert env.agents == []
    env.close()

    env = Env(address, "relay@1")
    env.reset()
    assert play(env, ["x"] * 6) == [
        ("one", 0, False, False),
        ("one", 0, True, False),
        ("two", 1, False, False),
        ("three", 2, False, False),
        ("two", 1, False, False),
        ("two", 0, True, False),
        ("three", 1, False, False),
        ("three", 0, False, False),
        ("three", 0, True, False),
    ]
    env.close()


def check_exhausted(address: str) -> None:
    """An agent whose context is full is truncated, and the others continue without it."""
    env = Env(address, "relay@1")
    env.reset()
    turns = play(env, ["x", None, "x", "x", "x"])
    assert ("two", 1, False, True) in turns or ("two", 0, False, True) in turns, turns
    assert [agent for agent, _, terminated, truncated in turns if not (terminated or truncated)] == [
        "one",
        "two",
        "three",
        "three",
        "three",
    ]
    env.close()


def check_appearing(address: str) -> None:
    """Agents of a role with many join when they appear, and end before the agent that called them."""
    env = Env(address, "research@2", many={"browser": 2})
    env.reset(seed=1)
    assert env.agents == ["main"]
    assert [tool["name"] for tool in env.infos["main"]["tools"]] == ["browse"]
    calls = [ToolCall("browse", {"goal": goal}, goal) for goal in ("one page", "another page")]
    report = "<report>nothing found</report>"
    turns = play(env, [calls, report, report, "I do not know."])
    assert [(agent, terminated) for agent, _, terminated, _ in turns] == [
        ("main", False),
        ("browser#1", False),
        ("browser#1", True),
        ("browser#2", False),
        ("browser#2", True),
        ("main", False),
        ("main", True),
    ], turns
    assert turns[2][1] == turns[4][1] == 0.1, turns
    assert env.possible_agents == ["main", "browser#1", "browser#2"]
    env.close()


def check_errors(address: str) -> None:
    env = Env(address, "nim@1")
    assert "TASK_NOT_FOUND" in error_of(lambda: env.reset(options={"task": "train/999"}))
    env.close()
    short = Env(address, "consultation@1", max_bytes=8)
    short.reset()
    assert "max_bytes" in error_of(short.last)
    short.close()


def error_of(act: Callable[[], object]) -> str:
    """Returns the message of the error that a call raises."""
    try:
        act()
    except MrlmError as error:
        return str(error)
    raise AssertionError("There was no error.")


def check_unscored(address: str) -> None:
    """A reward that could not be computed is an error, and no zero."""
    env = Env(address, "outcomes@1")
    env.reset()
    assert "JUDGE_FAILED" in error_of(lambda: env.step("unscored"))
    assert math.isnan(env.last()[1])
    env.close()


def check(address: str) -> int:
    """Makes all checks. Returns the number of environments that passed `api_test` and `seed_test`."""
    check_pettingzoo(address)
    check_rewards(address)
    check_exhausted(address)
    check_appearing(address)
    check_errors(address)
    check_unscored(address)
    return len(ENVIRONMENTS)
