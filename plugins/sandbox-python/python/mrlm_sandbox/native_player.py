"""The process of one submission, from behind its walls."""

import json
import os
import sys

from . import cage, frames
from .player import Player

READY = "ready"


def play(channel, tmp_bytes, base):
    """Answers the supervisor's messages until it closes the channel, or kills this process."""
    # The folder of these modules: all of them are loaded.
    del sys.path[0]
    reader = frames.FrameReader(channel)
    player = Player()
    frames.write(channel, READY)
    while (message := reader.wait()) is not None:
        if message.startswith("begin\n"):
            limits = json.loads(message[6:])
            _set_input(limits["stdin"])
            cage.limit(limits["memoryBytes"], limits["cpuMs"], tmp_bytes, base)
        else:
            frames.write(channel, player.handle(message))
    return 0


def _set_input(text):
    """Standard input is a file with `text`."""
    path = "/tmp/.stdin"
    with open(path, "w+b", buffering=0) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
        file.seek(0)
        os.unlink(path)
        os.dup2(file.fileno(), 0)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
