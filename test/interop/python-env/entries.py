"""Entries of a task set as reasoning-gym makes them: python entries.py NAME KWARGS SEED. The last line is JSON."""

import hashlib
import json
import random
import sys

import reasoning_gym

ENTRIES = 20


def digest(entry):
    return hashlib.sha256(repr((entry["question"], entry["answer"])).encode()).hexdigest()[:16]


name, kwargs = sys.argv[1], json.loads(sys.argv[2])
if "datasets" in kwargs:
    kwargs["datasets"] = [reasoning_gym.composite.DatasetSpec(**{"config": {}, **each}) for each in kwargs["datasets"]]
# Sets must not depend on the stream that all code shares.
random.seed(int(sys.argv[3]))
data = reasoning_gym.create_dataset(name, seed=0, size=500, **kwargs)
order = range(ENTRIES) if sys.argv[3] == "1" else reversed(range(ENTRIES))
digests = {index: digest(data[index]) for index in order}
print(json.dumps([digests[index] for index in range(ENTRIES)]))
