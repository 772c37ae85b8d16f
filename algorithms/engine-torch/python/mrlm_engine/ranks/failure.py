"""How a rank that cannot go on ends, so that the cause is told once and by the rank that knows it."""

from __future__ import annotations

import logging
import os
import threading
from typing import NoReturn

import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import get_error_handler

from mrlm_engine.compute.out_of_memory import is_out_of_memory

log = logging.getLogger(__name__)

# Seconds after which a rank ends by itself when nobody ends it.
PATIENCE = 30.0


def end_process(cause: BaseException) -> NoReturn:
    """Ends this process at once: its work failed, and the launcher ends the other ranks and reports the cause.

    A collective that broke is no cause: another rank ended in it. What that one says comes first.
    """
    if is_broken_collective(cause):
        log.error("another rank is gone: %s", (str(cause).splitlines() or [""])[0])
        threading.Event().wait(PATIENCE)
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
    """Whether a collective ended because of another rank. Gloo's errors have no type of their own."""
    return isinstance(cause, dist.DistError) or (isinstance(cause, RuntimeError) and "/gloo/" in str(cause))


def wait_for_the_end(lost: BaseException) -> NoReturn:
    """Waits to be ended by the launcher: another rank is gone, and its end is the cause."""
    log.error("%s", lost)
    threading.Event().wait(PATIENCE)
    logging.shutdown()
    os._exit(1)
