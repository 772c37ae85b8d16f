"""CartPole whose step takes a time: an environment that computes that long."""

import time
from typing import Any

import gymnasium


class Timed(gymnasium.Wrapper):
    def __init__(self, env: Any, seconds: float) -> None:
        super().__init__(env)
        self.seconds = seconds

    def step(self, action: Any) -> Any:
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return self.env.step(action)


def make(seconds: float = 0.0) -> Any:
    env = gymnasium.make("CartPole-v1")
    return env if seconds == 0 else Timed(env, seconds)
