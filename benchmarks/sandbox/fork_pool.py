"""The common method of trainers: multiprocessing forks a process for each submission, sets its limits, runs the program
with exec, and reads a queue.
"""

import json
import multiprocessing
import resource
import sys
import time
from multiprocessing.context import ForkProcess
from multiprocessing.queues import SimpleQueue


def run(program: str, queue: SimpleQueue[str]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    try:
        exec(program, {"__name__": "submission"})
        queue.put("passed")
    except BaseException as error:
        queue.put(f"failed: {error}")


def main() -> None:
    programs, parallel, seconds = json.load(sys.stdin)
    context = multiprocessing.get_context("fork")
    times: list[float] = []
    running: list[tuple[ForkProcess, SimpleQueue[str], float]] = []
    count = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or running:
        while len(running) < parallel and time.perf_counter() - start < seconds:
            queue = context.SimpleQueue()
            process = context.Process(target=run, args=(programs[count % len(programs)], queue))
            begun = time.perf_counter()
            process.start()
            running.append((process, queue, begun))
            count += 1
        process, queue, begun = running.pop(0)
        assert queue.get() == "passed"
        process.join()
        times.append((time.perf_counter() - begun) * 1000)
    elapsed = time.perf_counter() - start
    times.sort()
    print(
        json.dumps(
            {"perSecond": len(times) / elapsed, "p50Ms": times[len(times) // 2], "p99Ms": times[int(len(times) * 0.99)]}
        )
    )


main()
