"""Starts a process, which starts another one, by an actor of the driver; kills the actor by `ray.kill`; waits for both.

argv: folder of driver.py, and the command, which prints both ids. Prints `{"pids": [...], "seconds": N}`.
"""

import json
import os
import sys
import time

import ray

sys.path.insert(0, sys.argv[1])
import driver

ray.cloudpickle.register_pickle_by_value(driver)
ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False)
actor = ray.remote(max_concurrency=4)(driver.Runner).remote()
ray.get(actor.start.remote(driver.GUARD, sys.argv[2:], {}, os.getcwd(), 1000))
pids = [int(pid) for pid in ray.get(actor.read.remote())[0]["line"].split()]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return True
    except OSError:
        return False


assert all(is_running(pid) for pid in pids)
began = time.monotonic()
ray.kill(actor)
while any(is_running(pid) for pid in pids) and time.monotonic() - began < 30:
    time.sleep(0.05)
seconds = time.monotonic() - began
left = [pid for pid in pids if is_running(pid)]
ray.shutdown()
print(json.dumps({"pids": pids, "left": left, "seconds": seconds}), file=driver.answers, flush=True)
