"""
Runs a program in the zygote as runners do. It fills the interpreter's caches and specializes its code in memory that
runners share; otherwise each runner would write to copies of these pages.
"""

import json
import linecache
import socket
import sys

from . import faults, frames, native_runner

# CPython specializes a function after some calls, and each of its instructions after some further calls.
_TIMES = 30
_PROGRAM = """
from typing import Dict, List
import math


class Shape:
    def __init__(self, sides: int):
        self.sides = sides


def areas(rows: List[int], names: Dict[str, int], *, scale: float = 1.0) -> List[float]:
    '''Of squares.'''
    total = {name: len(name) + count for name, count in sorted(names.items(), key=lambda item: item[1]) if count > 0}
    while len(rows) < 4:
        rows.append(max(rows) + 1)
    try:
        shape = Shape(int("4"))
        return [math.sqrt(row * scale) + shape.sides for row in rows] + [float(sum(total.values()))]
    except (KeyError, ValueError) as error:
        raise TypeError(f"{error!r}") from None
"""
_CALL = 'call\nareas\n[{"t":[[3,1],{"d":{"a":2,"bc":0}}]},{"d":{"scale":2.0}}]'


def run() -> None:
    """Runs the program, and removes everything of it that a submission could find."""
    arguments = sys.argv
    messages = [f"load\n{json.dumps({'code': _PROGRAM, 'outputBytes': 1024})}", _CALL, _CALL]
    for _ in range(_TIMES):
        supervisor, runner = socket.socketpair()
        with supervisor, runner:
            for message in messages:
                frames.write(supervisor.fileno(), message)
            supervisor.shutdown(socket.SHUT_WR)
            native_runner.serve(runner.fileno(), 0)
            runner.shutdown(socket.SHUT_WR)
            _check(frames.FrameReader(supervisor.fileno()))
    sys.argv = arguments
    del sys.modules["submission"], linecache.cache[faults.FILE]


def _check(reader: frames.FrameReader) -> None:
    answers = []
    while (answer := reader.wait()) is not None:
        answers.append(answer)
    if not answers[-1].startswith("value\n"):
        raise RuntimeError(f"the warm-up failed: {answers}")
