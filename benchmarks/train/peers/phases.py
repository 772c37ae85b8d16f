"""CPU seconds by phase of a bare loop: where plain PyTorch spends a step."""

import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Phases:
    """`with phases("forward"): ...` adds the CPU seconds of the block to the current step; `end_step` ends the step."""

    def __init__(self, warmup: int) -> None:
        self.warmup = warmup
        self._current: dict[str, float] = defaultdict(float)
        self._steps: list[dict[str, float]] = []

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self._current[name] += time.process_time() - start

    def end_step(self) -> None:
        self._steps.append(dict(self._current))
        self._current.clear()

    def medians(self) -> dict[str, float]:
        steps = self._steps[self.warmup :]
        return {name: round(statistics.median(step[name] for step in steps), 4) for name in steps[0]}
