"""Process of one submission, after it has entered its isolation layers."""

import json
import mmap
import os
import sys

from . import frames, isolation
from .runner import Runner

READY = "ready"

# Address space that is released when a submission has used its limit, because the answer needs some. No page of it is
# ever written.
_reserve = mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
_NO_MEMORY = {
    "call": 'raised\n{"kinds":["MemoryError"],"arguments":"[]",'
    '"fault":{"name":"MemoryError","message":"","trace":"MemoryError"}}',
    "load": '{"verdict":"memory-limit"}',
}
_NO_MEMORY.update(
    dict.fromkeys(("attribute", "set", "instance", "wait", "anext", "pull", "throw", "leave"), _NO_MEMORY["call"])
)
_NO_MEMORY.update(dict.fromkeys(("run", "open", "evaluate"), _NO_MEMORY["load"]))


def serve(channel: int, base: int) -> int:
    """Answers the supervisor's messages until it closes the channel or kills this process.

    `base` is the size of the address space before the submission, in bytes. Returns the exit code.
    """
    reader = frames.FrameReader(channel)
    runner = Runner()
    has_begun = False
    frames.write(channel, READY)
    while (message := reader.wait()) is not None:
        start = None
        if message.startswith("begin\n"):
            _, text, message = message.split("\n", 2)
            start = json.loads(text)
        try:
            if start is not None:
                # Standard input is empty before the first submission.
                if start["stdin"] or has_begun:
                    _set_input(start["stdin"])
                isolation.limit(start["memoryBytes"], start["cpuMs"], base, start["isOnly"])
                has_begun = True
            answer = runner.handle(message)
        except MemoryError:
            _reserve.close()
            answer = _NO_MEMORY[message[: message.index("\n")]]
        frames.write(channel, answer)
    return 0


def _set_input(text: str) -> None:
    """Makes standard input a file with `text`. Raises MemoryError if /tmp has no room for it."""
    path = "/tmp/.stdin"
    data = memoryview(text.encode("utf-8", "surrogatepass"))
    with open(path, "w+b", buffering=0) as file:
        os.unlink(path)
        try:
            while data:
                data = data[file.write(data) :]
        except OSError:
            raise MemoryError from None
        file.seek(0)
        os.dup2(file.fileno(), 0)
    # Line ends are not translated, as in Python's own standard input.
    sys.stdin = sys.__stdin__ = open(  # type: ignore[misc]  # noqa: SIM115 - it stays open.
        0, encoding="utf-8", errors="surrogateescape", newline="\n", closefd=False
    )
