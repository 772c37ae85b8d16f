"""`python -m mrlm_engine`: one engine process, or one of its ranks.

docs: protos/mrlm/engine/v1/engine.proto, mrlm_engine/cli.py.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

from mrlm_engine.cli import parse_arguments
from mrlm_engine.launcher.rank_environment import RankEnvironment, place_of_process, take_own_gpu
from mrlm_engine.lifetime import die_with_parent
from mrlm_engine.process import prepare_process
from mrlm_engine.settings import EngineSettings


def main() -> int:
    """Serves until told to end."""
    settings = parse_arguments()
    prepare_process()
    place = place_of_process()
    if place.size > 1:
        # Their parent must not leave ranks behind, not even while they still import torch.
        die_with_parent()
    take_own_gpu(place)
    start_logging(place)
    # Whatever libraries print must not be taken for the JSON line.
    ready_line = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    from mrlm_engine.errors import EngineError

    try:
        return serve(settings, place, ready_line)
    except EngineError as error:
        print(f"{error.code}: {error.message} {error.hint}", file=sys.stderr)
        return 1


def serve(settings: EngineSettings, place: RankEnvironment, ready_line: TextIO) -> int:
    """Sets torch up, joins the other ranks where there are any, and does what this rank is for."""
    import torch
    import transformers

    from mrlm_engine.device import choose_device
    from mrlm_engine.lifetime import end_of_life
    from mrlm_engine.ranks.group import join_process_group, leave_process_group
    from mrlm_engine.service.find_rank_samplers import find_peers
    from mrlm_engine.service.run import follow_leader, serve_clients
    from mrlm_engine.service.state import EngineState

    transformers.utils.logging.disable_progress_bar()
    device = choose_device(settings.device, settings.mode, settings.threads, settings.lanes)
    torch.manual_seed(settings.seed)
    if place.size == 1:
        return serve_clients(EngineState(settings, device), end_of_life(), ready_line)
    channel = join_process_group(place, device.device)
    try:
        if place.rank == 0:
            state = EngineState(settings, device, channel)
            state.peers = find_peers(channel, place.size)
            return serve_clients(state, end_of_life(), ready_line)
        return follow_leader(EngineState(settings, device), channel, end_of_life())
    finally:
        leave_process_group()


def start_logging(place: RankEnvironment) -> None:
    """To standard error; the ranks of an engine share it."""
    rank = f"rank {place.rank} " if place.size > 1 else ""
    line = f"%(asctime)s {rank}%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=line)


if __name__ == "__main__":
    status = main()
    logging.shutdown()
    sys.stderr.flush()
    # Everything has been closed. Taking torch's modules apart would cost a second of CPU time, and change nothing.
    os._exit(status)
