"""Worker loop of ranks other than 0: runs work from rank 0 until it receives None."""

from __future__ import annotations

import threading
from typing import Any

from mrlm_engine.ranks.failure import end_process, wait_for_the_end
from mrlm_engine.ranks.group import Channel, RankLost
from mrlm_engine.ranks.outcome import attempt


def follow(state: Any, channel: Channel) -> None:
    """Runs work from rank 0 until it sends None."""
    try:
        while (message := channel.receive(0)) is not None:
            work, arguments = message
            channel.send(attempt(work, state, arguments), 0)
    except RankLost as lost:
        wait_for_the_end(lost)
    except BaseException as cause:
        # The others may wait for this rank in a collective.
        end_process(cause)


def start_following(state: Any, channel: Channel, over: threading.Event, ending: threading.Event) -> threading.Thread:
    """Runs the worker loop in a thread, because the main thread handles no signal while it waits inside a collective.

    Sets `over` and `ending` after rank 0 has sent None.
    """

    def run() -> None:
        follow(state, channel)
        over.set()
        ending.set()

    thread = threading.Thread(target=run, name="follower", daemon=True)
    thread.start()
    return thread
