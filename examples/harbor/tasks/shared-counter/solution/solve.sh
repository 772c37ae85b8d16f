#!/bin/bash
cat > /app/counter.py <<'END'
"""python3 counter.py FILE NAME AMOUNT: adds to a counter and prints its new value."""
import fcntl
import json
import os
import sys

path, name, amount = os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
# The kernel frees the lock at the end of a process. The lock is of a file that nobody replaces.
base = os.path.join(os.path.dirname(path), f".counter-{os.path.basename(path)}")
with open(f"{base}.lock", "a") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    counters, mode = {}, None
    if os.path.exists(path):
        mode = os.stat(path).st_mode & 0o7777
        try:
            with open(path) as file:
                counters = json.load(file)
        except ValueError:
            sys.exit(1)
    if not isinstance(counters, dict) or any(type(value) is not int for value in counters.values()):
        sys.exit(1)
    counters[name] = counters.get(name, 0) + amount
    with open(f"{base}.new", "w") as file:
        json.dump(counters, file)
    if mode is not None:
        os.chmod(f"{base}.new", mode)
    os.rename(f"{base}.new", path)
    print(counters[name], flush=True)
END
