"""Worker of `python-env@1`: environments of one set of options, many of them in this process.

A line of ASCII JSON is a message, as `Calls` of @mrlm/process writes them: a call has an id, a method and arguments;
its answer has the same id, and a value or an error. Calls are answered in their order. The worker needs the standard
library alone; environments import the rest.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import random
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mrlm_spaces import UnreadableError, describe_space, number, read_action, render

# Size of a data set, as reasoning-gym has it by default. It bounds a loop over a set; most sets make entries beyond it.
CHUNK = 500
# Data sets and entries that stay in memory. Some sets read files of some MiB when they are made.
KEPT_SETS = 24
KEPT_ENTRIES = 256
# Environments without an episode that are used again.
KEPT_IDLE = 256


# Events of sys.audit (PEP 578) by which code leaves traces outside of its process.
_REFUSED = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen", "pty.spawn", "socket."),
    *("ctypes.", "shutil.", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class OptionsError(Exception):
    """Options that this worker cannot serve."""


def load_target(name: str, file: str | None) -> Any:
    """Return the factory that a name means, or None where a library is to resolve it."""
    if file is not None:
        spec = importlib.util.spec_from_file_location("mrlm_environment", file)
        if spec is None or spec.loader is None:
            raise OptionsError(f"{file} is no file of Python.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, os.path.dirname(file))
        spec.loader.exec_module(module)
        return member(module, name.rpartition(":")[2])
    module_name, _, attribute = name.partition(":")
    if attribute == "":
        return None
    module = importlib.import_module(module_name)
    return getattr(module, attribute, None)


def member(module: Any, name: str) -> Any:
    """Return a member of a module."""
    if not hasattr(module, name):
        raise OptionsError(f"{module.__file__} has no `{name}`.")
    return getattr(module, name)


class Games(ABC):
    """Environments that are reset and step, by the number of an episode."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.running: dict[int, Any] = {}
        self.idle = [make()]
        self.facts = self.describe(self.idle[0])

    @abstractmethod
    def describe(self, game: Any) -> dict[str, Any]: ...

    @abstractmethod
    def space(self, game: Any) -> Any: ...

    @abstractmethod
    def begin(self, game: Any, seed: int) -> dict[str, Any]: ...

    @abstractmethod
    def act(self, game: Any, action: Any) -> dict[str, Any]: ...

    def reset(self, instance: int, seed: int) -> dict[str, Any]:
        self.close(instance)
        game = self.idle.pop() if self.idle else self.make()
        with closing_at_error(game):
            result = self.begin(game, seed)
        self.running[instance] = game
        return result

    def step(self, instance: int, text: str) -> dict[str, Any]:
        game = self.running.pop(instance)
        with closing_at_error(game):
            try:
                result = self.act(game, read_action(self.space(game), text))
            except UnreadableError as reason:
                result = {"unreadable": str(reason)}
        self.running[instance] = game
        return result

    def owed(self, instance: int) -> dict[str, float | str]:
        """Return the rewards but 0 of agents that are not on turn, since the turn of each. No step may follow."""
        rewards = self.rewards_of_others(self.running[instance])
        return {agent: reward for agent, reward in rewards.items() if reward != 0}

    @abstractmethod
    def rewards_of_others(self, game: Any) -> dict[str, float | str]: ...

    def close(self, instance: int) -> None:
        game = self.running.pop(instance, None)
        if game is not None and len(self.idle) < KEPT_IDLE:
            self.idle.append(game)
        elif game is not None:
            game.close()


@contextlib.contextmanager
def closing_at_error(game: Any) -> Iterator[None]:
    """Close an environment that raises: it is not used again."""
    try:
        yield
    except (Exception, SystemExit):
        # The first error is the one to report.
        with contextlib.suppress(Exception, SystemExit):
            game.close()
        raise


class Gymnasium(Games):
    """Environments with the interface of gymnasium: `reset(seed=...)`, and `step(action)` with five results."""

    def __init__(self, name: str, file: str | None, kwargs: dict[str, Any]) -> None:
        target = load_target(name, file)
        if target is None:
            import gymnasium

            super().__init__(lambda: gymnasium.make(name, **kwargs))
        else:
            super().__init__(lambda: target(**kwargs))

    def space(self, game: Any) -> Any:
        return getattr(game, "action_space", None)

    def describe(self, game: Any) -> dict[str, Any]:
        space = self.space(game)
        return {"agents": ["agent"], "actions": None if space is None else describe_space(space)}

    def begin(self, game: Any, seed: int) -> dict[str, Any]:
        observation, _ = game.reset(seed=seed)
        return {"agent": "agent", "text": render(game, observation), "rewards": {}, "terminated": [], "truncated": []}

    def act(self, game: Any, action: Any) -> dict[str, Any]:
        observation, reward, has_terminated, has_truncated, _ = game.step(action)
        return {
            "agent": "" if has_terminated or has_truncated else "agent",
            "text": render(game, observation),
            "rewards": {"agent": number(reward)},
            "terminated": ["agent"] if has_terminated else [],
            "truncated": ["agent"] if has_truncated and not has_terminated else [],
        }

    def rewards_of_others(self, game: Any) -> dict[str, float | str]:
        return {}


class PettingZoo(Games):
    """Games with the interface of PettingZoo: AEC, or parallel, whose agents then act in turn."""

    def __init__(self, name: str, file: str | None, kwargs: dict[str, Any]) -> None:
        target = load_target(name, file)
        if target is None:
            module = importlib.import_module(name)
            target = module.env if hasattr(module, "env") else member(module, "parallel_env")

        def make() -> Any:
            game = target(**kwargs)
            if hasattr(game, "last"):
                return game
            from pettingzoo.utils.conversions import parallel_to_aec

            return parallel_to_aec(game)

        super().__init__(make)

    def space(self, game: Any, agent: str | None = None) -> Any:
        return game.action_space(agent or game.agent_selection) if hasattr(game, "action_space") else None

    def describe(self, game: Any) -> dict[str, Any]:
        agents = list(game.possible_agents)
        spaces = [self.space(game, agent) for agent in agents]
        described = [None if space is None else describe_space(space) for space in spaces]
        if len(set(described)) == 1:
            return {"agents": agents, "actions": described[0]}
        texts = zip(agents, described, strict=True)
        return {"agents": agents, "actions": "; ".join(f"{agent}: {text or 'a text'}" for agent, text in texts)}

    def begin(self, game: Any, seed: int) -> dict[str, Any]:
        game.reset(seed=seed)
        return self.turn(game)

    def act(self, game: Any, action: Any) -> dict[str, Any]:
        game.step(action)
        return self.turn(game)

    def rewards_of_others(self, game: Any) -> dict[str, float | str]:
        others = [agent for agent in game.agents if agent != game.agent_selection]
        # `last()` is for the agent on turn, which cannot be set through wrappers of PettingZoo. They pass this name on.
        if hasattr(game, "_cumulative_rewards"):
            return {agent: number(game._cumulative_rewards[agent]) for agent in others}
        rewards = {}
        for agent in others:
            game.agent_selection = agent
            rewards[agent] = number(game.last()[1])
        return rewards

    def turn(self, game: Any) -> dict[str, Any]:
        """Return the next agent and its observation, with the rewards and ends of agents since the last action."""
        rewards: dict[str, float | str] = {}
        terminated: list[str] = []
        truncated: list[str] = []
        result = {"agent": "", "text": "", "rewards": rewards, "terminated": terminated, "truncated": truncated}
        while game.agents:
            agent = game.agent_selection
            observation, reward, has_terminated, has_truncated, _ = game.last()
            rewards[agent] = number(reward)
            if not has_terminated and not has_truncated:
                return {**result, "agent": agent, "text": render(game, observation)}
            (terminated if has_terminated else truncated).append(agent)
            game.step(None)
        return result


class ReasoningGym:
    """Task sets with the interface of reasoning-gym: entries by index, and `score_answer`."""

    def __init__(self, name: str, file: str | None, kwargs: dict[str, Any]) -> None:
        self.make = load_target(name, file)
        if self.make is None:
            import reasoning_gym
            from reasoning_gym.factory import DATASETS

            if name not in DATASETS:
                raise OptionsError(f"reasoning-gym has no task set `{name}`. It has: {', '.join(sorted(DATASETS))}.")
            self.make = lambda **given: reasoning_gym.create_dataset(name, **given)
            if name == "composite" and "datasets" in kwargs:
                # Parts of a mixture have a class of their own, which JSON has not.
                specs = [reasoning_gym.composite.DatasetSpec(**{"config": {}, **each}) for each in kwargs["datasets"]]
                kwargs = {**kwargs, "datasets": specs}
        self.kwargs = kwargs
        self.guard = ScoreGuard()
        self.sets: dict[int, Any] = {}
        self.entries: dict[tuple[int, int], tuple[Any, dict[str, Any]]] = {}
        self.facts: dict[str, Any] = {"agents": [], "actions": None}

    def data(self, seed: int) -> Any:
        if seed not in self.sets:
            forget_first(self.sets, KEPT_SETS)
            seed_streams(seed, -1)
            self.sets[seed] = self.make(seed=seed, size=CHUNK, **self.kwargs)
        return self.sets[seed]

    def entry_of(self, seed: int, index: int) -> tuple[Any, dict[str, Any]]:
        if (seed, index) not in self.entries:
            forget_first(self.entries, KEPT_ENTRIES)
            self.entries[seed, index] = self.make_entry(seed, index)
        return self.entries[seed, index]

    def make_entry(self, seed: int, index: int) -> tuple[Any, dict[str, Any]]:
        """Make an entry by `seed + index`, as most sets do. Those that make a list at first begin another set."""
        data = self.data(seed)
        seed_streams(seed, index)
        try:
            return data, data[index]
        except IndexError:
            if index < CHUNK:
                raise
        data = self.data(seed + index // CHUNK * CHUNK)
        seed_streams(seed, index)
        return data, data[index % CHUNK]

    def entry(self, seed: int, index: int) -> dict[str, Any]:
        _, entry = self.entry_of(seed, index)
        answer = entry.get("answer")
        return {"question": entry["question"], "answer": answer if isinstance(answer, str) else None}

    def score(self, seed: int, index: int, answer: str) -> float | str:
        data, entry = self.entry_of(seed, index)
        seed_streams(seed, index)
        with self.guard:
            return number(data.score_answer(answer, entry))


class ScoreGuard:
    """Refuses the usual ways out of the process to answers, which some checkers evaluate. It is no sandbox."""

    def __init__(self) -> None:
        self.is_on = False
        sys.addaudithook(self.audit)

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if self.is_on and (event.startswith(_REFUSED) or (event == "open" and args[2] & _WRITES)):
            raise PermissionError(f"An answer must not cause {event}.")

    def __enter__(self) -> None:
        self.is_on = True

    def __exit__(self, *error: object) -> None:
        self.is_on = False


def seed_streams(seed: int, index: int) -> None:
    """Seed the streams that all code of a process shares: sets that draw from them are then equal in every process."""
    random.seed(f"{seed}/{index}")
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed((seed * 1_000_003 + index) % 2**32)


def forget_first(kept: dict[Any, Any], most: int) -> None:
    """Make room for one more in a dictionary, whose first key is the oldest."""
    while len(kept) >= most:
        del kept[next(iter(kept))]


KINDS: dict[str, Callable[..., Any]] = {"gymnasium": Gymnasium, "pettingzoo": PettingZoo, "reasoning_gym": ReasoningGym}


def serve(lines: Iterable[bytes], write: Callable[[dict[str, Any]], None]) -> None:
    """Answer calls until the input ends."""
    served: Any = None
    for line in lines:
        message = json.loads(line)
        if message["type"] != "call":
            continue
        method, args = message["method"], message["args"]
        answer = {"id": message["id"]}
        try:
            if method == "load":
                kind, name, file, kwargs = args
                served = KINDS[kind](name, file, kwargs)
                value = served.facts
            else:
                value = getattr(served, method)(*args)
            write({"type": "result", **answer, "value": value})
        except OptionsError as error:
            write({"type": "error", **answer, "error": {"code": "OPTIONS_INVALID", "message": str(error)}})
        except (Exception, SystemExit) as error:
            last = traceback.format_exc(limit=-3).strip()
            what = f"`{method}` raised {type(error).__name__}: {error}"[:2_000]
            write(
                {"type": "error", **answer, "error": {"code": "BRIDGE_FAILED", "message": f"{what}\n{last[-2_000:]}"}}
            )


def main() -> None:
    # The pipes are those of the protocol: environments print to stderr, and have no input.
    lines = os.fdopen(os.dup(0), "rb")
    output = os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)

    def write(message: dict[str, Any]) -> None:
        rest = memoryview(json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n")
        while len(rest) > 0:
            rest = rest[os.write(output, rest) :]

    serve(lines, write)


if __name__ == "__main__":
    main()
