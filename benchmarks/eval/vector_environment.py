"""Steps a second of gymnasium's AsyncVectorEnv: python vector_environment.py PROCESSES SECONDS STEP_SECONDS.

One environment in each process, as AsyncVectorEnv has them. Prints a number.
"""

import sys
import time

import gymnasium
import numpy
from timed_cart_pole import make

if __name__ == "__main__":
    processes, seconds, step_seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    vector = gymnasium.vector.AsyncVectorEnv([lambda: make(step_seconds)] * processes)
    vector.reset(seed=0)
    actions = numpy.zeros(processes, dtype=numpy.int64)

    def play(duration: float) -> float:
        begin, steps = time.perf_counter(), 0
        while time.perf_counter() - begin < duration:
            actions[:] = steps % 2
            vector.step(actions)
            steps += 1
        return steps * processes / (time.perf_counter() - begin)

    play(seconds / 3)
    print(play(seconds))
    vector.close()
