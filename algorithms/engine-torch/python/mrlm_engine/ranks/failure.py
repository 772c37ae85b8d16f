"""Exit of a failed rank. The rank with the cause reports it, and only that rank."""

from __future__ import annotations

import logging
import os
import threading
from typing import NoReturn

import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import get_error_handler

from mrlm_engine.compute.out_of_memory import is_out_of_memory

log = logging.getLogger(__name__)

# Seconds after which a rank exits by itself if the launcher does not end it.
SELF_EXIT_SECONDS = 30.0


def end_process(cause: BaseException) -> NoReturn:
    """Exits at once after failed work. The launcher ends the other ranks and reports the cause.

    A broken collective is not the cause but the result of another rank's exit. This rank waits, so that the other rank
    reports first.
    """
    if is_broken_collective(cause):
        log.error("another rank is gone: %s", (str(cause).splitlines() or [""])[0])
        threading.Event().wait(SELF_EXIT_SECONDS)
    if is_out_of_memory(cause):
        log.critical("this rank's memory ran out: %s", cause)
    else:
        log.critical("this rank failed", exc_info=cause)
    handler = get_error_handler()
    handler.initialize()
    handler.record_exception(cause)
    logging.shutdown()
    os._exit(1)


def is_broken_collective(cause: BaseException) -> bool:
    """Whether a collective ended because of another rank. Gloo's errors have no separate type."""
    return isinstance(cause, dist.DistError) or (isinstance(cause, RuntimeError) and "/gloo/" in str(cause))


def wait_for_the_end(lost: BaseException) -> NoReturn:
    """Waits until the launcher ends this process, because the exit of another rank is the cause."""
    log.error("%s", lost)
    threading.Event().wait(SELF_EXIT_SECONDS)
    logging.shutdown()
    os._exit(1)
