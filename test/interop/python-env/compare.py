"""Entries of task sets in another process: python compare.py library|worker|code SEED, with the sets as JSON on stdin.

Each set has a name, arguments, and the places (seed, index) of its first tasks. `library` makes them by reasoning-gym
alone, in an order that SEED decides; `worker` by the code of python-env@1. The last line is JSON: a digest by name.
With `code` the value is "code" where the checker runs the answer as code.
"""

import contextlib
import hashlib
import json
import random
import sys
from pathlib import Path

import reasoning_gym

sys.path.insert(0, str(Path(__file__).parents[3] / "environments/python/python"))

from worker import ReasoningGym

how, seed = sys.argv[1], int(sys.argv[2])


def entries_of(name, kwargs, places):
    if how == "worker":
        served = ReasoningGym(name, None, kwargs)
        return [served.entry(*place) for place in places]
    if "datasets" in kwargs:
        specs = [reasoning_gym.composite.DatasetSpec(**{"config": {}, **each}) for each in kwargs["datasets"]]
        kwargs = {**kwargs, "datasets": specs}
    # Sets must not depend on the stream that all code shares, nor on what was made before.
    random.seed(seed)
    order = list(range(len(places)))
    random.Random(seed).shuffle(order)
    sets = {}

    def make(first, index):
        if first not in sets:
            sets[first] = reasoning_gym.create_dataset(name, seed=first, size=500, **kwargs)
        try:
            return sets[first][index]
        except IndexError:
            # A set that makes a list of its size at first.
            return make(first + index // 500 * 500, index % 500) if index >= 500 else None

    made = {i: make(*places[i]) for i in order}
    return [made[i] for i in range(len(places))]


MARKER = "mrlm_marker"
ran = False


def audit(event, args):
    global ran
    if event == "exec" and (MARKER in args[0].co_names or MARKER in args[0].co_consts):
        ran = True


def runs_code(name, kwargs, place):
    """Whether the checker executes code that it makes of an answer."""
    global ran
    data, entry = ReasoningGym(name, None, kwargs).entry_of(*place)
    for text in (MARKER, f"{MARKER} + 1", f"[{MARKER}]"):
        ran = False
        with contextlib.suppress(Exception):
            data.score_answer(text, entry)
        if ran:
            return "code"
    return ""


def digest(entries):
    text = "".join(
        f"{each['question']}\0{each['answer'] if isinstance(each['answer'], str) else ''}\1" for each in entries
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if how == "code":
    sys.addaudithook(audit)
digests = {}
for each in json.load(sys.stdin):
    try:
        found = each["name"], each["kwargs"]
        if how == "code":
            digests[each["name"]] = runs_code(*found, each["places"][0])
        else:
            digests[each["name"]] = digest(entries_of(*found, each["places"]))
    except Exception as error:
        digests[each["name"]] = f"{type(error).__name__}: {error}"
    print(each["name"], digests[each["name"]], file=sys.stderr, flush=True)
# Some sets print dots.
print(f"\n{json.dumps(digests)}")
