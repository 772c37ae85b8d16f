"""python3 counter.py FILE NAME AMOUNT: adds to a counter and prints its new value."""
import json
import os
import sys

path, name, amount = sys.argv[1], sys.argv[2], int(sys.argv[3])
counters = {}
if os.path.exists(path):
    with open(path) as file:
        counters = json.load(file)
counters[name] = counters.get(name, 0) + amount
with open(path, "w") as file:
    json.dump(counters, file)
print(counters[name])
