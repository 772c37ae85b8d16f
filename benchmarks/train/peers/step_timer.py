"""Wall and CPU seconds of each optimizer step, for the whole process tree."""

import json
import os
import resource
import statistics
import time

import psutil


def cpu_seconds() -> float:
    """Returns the user + system seconds of this process (all threads), its finished children and its living
    descendants.
    """
    total = time.process_time()
    finished = resource.getrusage(resource.RUSAGE_CHILDREN)
    total += finished.ru_utime + finished.ru_stime
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


class StepTimer:
    """Call `mark` before the first step and after each step; the result leaves out the first `warmup` steps."""

    def __init__(self, warmup: int) -> None:
        self.warmup = warmup
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._last: tuple[float, float] | None = None

    def mark(self) -> None:
        now = (time.perf_counter(), cpu_seconds())
        if self._last is not None:
            self.wall.append(now[0] - self._last[0])
            self.cpu.append(now[1] - self._last[1])
        self._last = now

    def report(self, **facts: object) -> None:
        """Print the result as one JSON object on the last line of stdout."""
        import torch
        import transformers

        wall, cpu = self.wall[self.warmup :], self.cpu[self.warmup :]
        result = {
            **facts,
            "steps": len(wall),
            "warmup_steps": self.warmup,
            "threads": torch.get_num_threads(),
            "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "cpu_s_per_step": statistics.median(cpu),
            "wall_s_per_step": statistics.median(wall),
            "cpu_s": [round(x, 4) for x in cpu],
            "wall_s": [round(x, 4) for x in wall],
            # Linux counts in KiB. Children of a peer are its data loaders, which are switched off.
            "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(json.dumps(result), flush=True)
