"""Environments with faults, and spaces whose actions come back as text."""

import contextlib
import ctypes
import os
import sys
import time


class Faulty:
    """Each action is a command. The observation names the process."""

    closed = 0
    refuses_reset = False

    def __init__(self, **kwargs):
        if kwargs.get("fails"):
            print("no licence found", file=sys.stderr)
            os._exit(7)
        self.steps = 0

    def reset(self, seed=None):
        print("reset: this is no message of the protocol")
        os.write(1, b"nor is this\n")
        self.steps = 0
        if Faulty.refuses_reset:
            Faulty.refuses_reset = False
            raise ValueError("refused")
        return f"pid {os.getpid()}", {}

    def step(self, action):
        self.steps += 1
        command, _, rest = action.partition(" ")
        if command == "raise":
            raise ValueError(rest)
        if command == "exit":
            print("about to leave", file=sys.stderr)
            sys.stderr.flush()
            os._exit(int(rest))
        if command == "quit":
            sys.exit(rest)
        if command == "sleep":
            time.sleep(float(rest))
        if command == "spin":
            while True:
                pass
        if command == "half":
            # Another code of the process finds the pipe of the protocol.
            for descriptor in range(3, 20):
                with contextlib.suppress(OSError):
                    os.write(descriptor, b'{"type": "resu')
            os._exit(4)
        if command == "crash":
            ctypes.string_at(0)
        if command == "read":
            return repr(sys.stdin.read()), 0.0, False, False, {}
        if command == "reward":
            return "", float(rest), True, False, {}
        if command == "big":
            return "x" * int(rest), 0.0, False, False, {}
        if command == "refuse":
            Faulty.refuses_reset = True
        if command == "closed":
            return str(Faulty.closed), 0.0, False, False, {}
        if command == "echo":
            return rest, 0.0, False, False, {}
        return f"step {self.steps}", 1.0 if command == "win" else 0.0, command == "win", False, {}

    def close(self):
        Faulty.closed += 1
        raise RuntimeError("close fails too")


class Discrete:
    def __init__(self, n, start=0):
        self.n, self.start = n, start


class Tuple:
    def __init__(self, *spaces):
        self.spaces = spaces


class Dict(dict):
    pass


SPACES = {
    "discrete": Discrete(5, -2),
    "tuple": Tuple(Discrete(3), Discrete(2)),
    "dict": Dict(x=Discrete(3), y=Tuple(Discrete(2))),
}


class Echo:
    """Ends with the action as its observation."""

    def __init__(self, space):
        self.action_space = SPACES[space]

    def reset(self, seed=None):
        return "?", {}

    def step(self, action):
        return repr(action), 1.0, True, False, {}

    def close(self):
        pass


class Points:
    """Game of two agents in the interface of PettingZoo (AEC): an action is the points of its agent."""

    possible_agents = ("a", "b")

    def __init__(self, **kwargs):
        self.factor = float(kwargs.get("factor", 1))
        self.is_plain = kwargs.get("plain", False)

    def reset(self, seed=None):
        self.agents = list(self.possible_agents)
        self.agent_selection = "a"
        self.points = dict.fromkeys(self.agents, 0.0)
        if not self.is_plain:
            self._cumulative_rewards = self.points

    def action_space(self, agent):
        return Discrete(5)

    def last(self):
        return "?", self.points[self.agent_selection], False, False, {}

    def step(self, action):
        agent = self.agent_selection
        self.points[agent] = action * self.factor
        self.agent_selection = "b" if agent == "a" else "a"

    def close(self):
        pass


class Checked:
    """Set of tasks whose checker fails at some answers."""

    def __init__(self, seed, size, broken=False, case=None):
        self.broken = broken

    def __getitem__(self, index):
        return {"question": f"What is {index}?", "answer": str(index), "metadata": {}}

    def score_answer(self, answer, entry):
        if self.broken or answer == "raise":
            raise ValueError(answer)
        if answer == "exit":
            os._exit(3)
        if answer == "spin":
            while True:
                pass
        if answer.startswith("eval "):
            eval(answer[5:])
        return float("nan") if answer == "nan" else float(answer == entry["answer"])
