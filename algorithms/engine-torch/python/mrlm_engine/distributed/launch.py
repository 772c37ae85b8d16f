"""`python -m mrlm_engine.distributed.launch`: ranks of one engine on this machine, under torchrun's agent."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from mrlm_engine.lifetime import AGENT


def main() -> int:
    """Runs until all ranks have ended, or one has failed: then it ends the others and says why."""
    parser = argparse.ArgumentParser(
        prog="mrlm_engine.distributed.launch",
        description="Starts ranks of one engine. What follows `--` are the engine's own arguments.",
    )
    parser.add_argument("--nproc-per-node", type=int, default=1, help="ranks on this machine")
    parser.add_argument("--nnodes", type=int, default=1, help="machines")
    parser.add_argument("--node-rank", type=int, default=0, help="number of this machine; 0 is where clients connect")
    parser.add_argument("--master-addr", default="", help="address of machine 0; with several machines")
    parser.add_argument("--master-port", type=int, default=29500, help="a free port of machine 0")
    parser.add_argument("engine", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.nnodes > 1 and not given.master_addr:
        parser.error("--nnodes above 1 needs --master-addr, the address of machine 0")
    arguments = [argument for argument in given.engine if argument != "--"]
    os.environ[AGENT] = str(os.getpid())
    with tempfile.TemporaryDirectory(prefix="mrlm-ranks-") as logs:
        launch = elastic_launch(launch_config(given, logs), sys.executable)
        try:
            launch("-m", "mrlm_engine", *arguments, *threads_argument(arguments, given.nproc_per_node))
        except ChildFailedError as failed:
            print(describe_failure(failed), file=sys.stderr)
            return 1
        except SignalException as ended:
            return 128 + int(ended.sigval)
    return 0


def launch_config(given: argparse.Namespace, logs: str) -> LaunchConfig:
    """torchrun's settings: no restarts, since a run goes on from its checkpoint with all ranks."""
    alone = given.nnodes == 1
    if alone and sys.platform == "linux":
        # A machine's own name need not resolve.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return LaunchConfig(
        min_nodes=given.nnodes,
        max_nodes=given.nnodes,
        nproc_per_node=given.nproc_per_node,
        run_id=f"mrlm-{os.getpid()}" if alone else "mrlm",
        rdzv_backend="c10d" if alone else "static",
        rdzv_endpoint="127.0.0.1:0" if alone else f"{given.master_addr}:{given.master_port}",
        rdzv_configs={} if alone else {"rank": given.node_rank},
        local_addr="127.0.0.1" if alone else None,
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(log_dir=logs),
    )


def threads_argument(arguments: Sequence[str], ranks: int) -> list[str]:
    """An equal share of the machine's processors for each rank, where the engine's arguments do not say."""
    if "--threads" in arguments:
        return []
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ["--threads", str(max(1, available // ranks))]


def describe_failure(failed: ChildFailedError) -> str:
    """One line about the rank that failed first."""
    rank, failure = failed.get_first_failure()
    return f"The engine ended because rank {rank} (process {failure.pid}) {_how(failure)}."


def _how(failure: ProcessFailure) -> str:
    if failure.exitcode < 0:
        return f"was killed by {signal.Signals(-failure.exitcode).name}"
    if not os.path.isfile(failure.error_file):
        return f"ended with exit code {failure.exitcode}"
    # What an exception left behind is a record of it, though declared as text.
    recorded: Any = failure.message
    message = str(recorded.get("message", "") if isinstance(recorded, dict) else recorded)
    return f"failed: {(message.splitlines() or [''])[0]}"


if __name__ == "__main__":
    sys.exit(main())
