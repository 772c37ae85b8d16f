"""`python -m mrlm_engine`: one engine process, or one of its ranks.

docs: protos/mrlm/engine/v1/engine.proto, mrlm_engine/cli.py.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

from mrlm_engine.cli import parse_arguments
from mrlm_engine.launcher.rank_environment import RankEnvironment, rank_environment, take_own_gpu
from mrlm_engine.lifetime import exit_with_parent
from mrlm_engine.process import prepare_process
from mrlm_engine.settings import EngineSettings


def main() -> int:
    """Serves until a signal or the end of standard input."""
    settings = parse_arguments()
    prepare_process()
    environment = rank_environment()
    if environment.size > 1:
        # Ranks must not outlive the launcher, not even while they import torch.
        exit_with_parent()
    if settings.gpu:
        # Before torch is imported: its current device is one of each thread.
        os.environ["CUDA_VISIBLE_DEVICES"] = str(settings.gpu)
    take_own_gpu(environment)
    start_logging(environment)
    # Output of libraries must not be confused with the JSON line.
    ready_line = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    from mrlm_engine.errors import EngineError

    try:
        return serve(settings, environment, ready_line)
    except EngineError as error:
        print(f"{error.code}: {error.message} {error.hint}", file=sys.stderr)
        return 1


def serve(settings: EngineSettings, environment: RankEnvironment, ready_line: TextIO) -> int:
    """Sets torch up, joins the other ranks if there are any, and serves clients (rank 0) or rank 0 (other ranks)."""
    import torch
    import transformers

    from mrlm_engine.device import choose_device
    from mrlm_engine.lifetime import termination_event
    from mrlm_engine.ranks.group import join_process_group, leave_process_group
    from mrlm_engine.service.find_rank_samplers import find_rank_samplers
    from mrlm_engine.service.run import follow_leader, serve_clients
    from mrlm_engine.service.state import EngineState

    transformers.utils.logging.disable_progress_bar()
    device = choose_device(settings.device, settings.mode, settings.threads, settings.lanes)
    torch.manual_seed(settings.seed)
    if environment.size == 1:
        return serve_clients(EngineState(settings, device), termination_event(), ready_line)
    channel = join_process_group(environment, device.device)
    try:
        if environment.rank == 0:
            state = EngineState(settings, device, channel)
            state.rank_samplers = find_rank_samplers(channel, environment.size)
            return serve_clients(state, termination_event(), ready_line)
        return follow_leader(EngineState(settings, device), channel, termination_event())
    finally:
        leave_process_group()


def start_logging(environment: RankEnvironment) -> None:
    """Logs to standard error, which all ranks of an engine share."""
    rank = f"rank {environment.rank} " if environment.size > 1 else ""
    line = f"%(asctime)s {rank}%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=line)


if __name__ == "__main__":
    status = main()
    logging.shutdown()
    sys.stderr.flush()
    # Everything has been closed. The normal exit would spend a second of CPU time on torch's modules.
    os._exit(status)
