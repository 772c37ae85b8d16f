"""`python -m mrlm_engine.launcher.launch`: ranks of one engine on this machine, alone or with other machines.

Standard output has the ready line of rank 0, and lines of JSON: {"notice": ...} while machines wait for each other,
{"joined": ...} when the ranks of a machine other than 0 start, and after an unexpected end {"failed": ...} with the
cause ("because"), or the "code" and "message" of an error at the start.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from mrlm_engine.cli import parse_arguments
from mrlm_engine.launcher.address import own_address
from mrlm_engine.launcher.coordinator import Coordinator
from mrlm_engine.launcher.failure import LaunchError, machine_and_ranks
from mrlm_engine.launcher.handshake import Hello, hello_of_machine
from mrlm_engine.launcher.local_ranks import GRACE, LocalRanks
from mrlm_engine.launcher.participant import Participant
from mrlm_engine.launcher.rank_environment import KEY, RENDEZVOUS_FILE, rank_variables
from mrlm_engine.launcher.start import NoOtherMachines, OtherMachines, Start
from mrlm_engine.lifetime import AGENT, LauncherLifetime

_LOOPBACK = "127.0.0.1"


def main() -> int:
    """Runs until all ranks have ended. After the failure of one it ends the others and reports the cause."""
    given, engine = _parse()
    life = LauncherLifetime()
    failure: dict[str, str] | None = None
    try:
        cause = _join(given, life) if given.node_rank > 0 else _lead(given, engine, life)
        if cause is not None:
            failure = {"because": cause}
    except LaunchError as error:
        failure = {"code": error.code, "message": error.message}
    if failure is None:
        return 0
    _report({"failed": failure})
    return 1


def _lead(given: argparse.Namespace, engine: Sequence[str], life: LauncherLifetime) -> str | None:
    """Starts the ranks of machine 0 when all machines have joined. Returns the cause of an unexpected end."""
    coordinator = None
    if given.nnodes > 1:
        coordinator = Coordinator(_hello(given), given.master_addr, given.master_port, _notify)
        try:
            if not coordinator.gather(given.join_seconds, lambda: life.is_over):
                coordinator.finish("the run was ended before all machines had joined")
                return None
        except LaunchError as error:
            coordinator.finish(error.message[0].lower() + error.message[1:].rstrip("."))
            raise
    others: OtherMachines = coordinator or NoOtherMachines()
    with _rendezvous_socket(coordinator) as listener:
        start = Start(given.master_addr, listener.getsockname()[1], engine) if listener else Start(_LOOPBACK, 0, engine)
        if coordinator is not None:
            coordinator.start(start.port, _for_others(engine))
        with _start_ranks(given, start, listener) as ranks:
            cause = _watch(ranks, others, life, given)
            if cause is None:
                if life.is_asked:
                    ranks.ask_to_end()
                ranks.end(GRACE)
                if coordinator is not None and not life.is_asked:
                    cause = "the command that started the run on machine 0 is gone"
    if coordinator is not None:
        coordinator.finish(cause)
    return cause


def _join(given: argparse.Namespace, life: LauncherLifetime) -> str | None:
    """Starts the ranks of another machine when machine 0 sends the start. Returns the cause of an early end."""
    participant = Participant(_hello(given), given.master_addr, given.master_port, _notify)
    start = participant.join(given.join_seconds, lambda: life.is_over)
    if start is None:
        return participant.leave()
    here = machine_and_ranks(given.node_rank, own_address(given.master_addr), given.nproc_per_node)
    with _start_ranks(given, start, None) as ranks:
        _report({"joined": {"pid": os.getpid()}})
        cause = _watch(ranks, participant, life, given)
        if cause is None and not ranks.have_ended():
            cause = f"{here} left the run"
    return participant.finish(cause)


def _watch(ranks: LocalRanks, others: OtherMachines, life: LauncherLifetime, given: argparse.Namespace) -> str | None:
    """Waits until the ranks have ended or must end. Returns the failure; None after success or a signal."""
    while True:
        if (lost := others.failure()) is not None:
            return lost
        if (failure := ranks.failure()) is not None:
            rank, process, fate = failure
            where = f" on machine {given.node_rank}" if given.nnodes > 1 else ""
            return f"rank {rank}{where} (process {process}) {fate}"
        if life.is_over or ranks.have_ended():
            return None
        others.wait(0.1)


def _rendezvous_socket(coordinator: Coordinator | None) -> contextlib.AbstractContextManager[socket.socket | None]:
    """Opens the rendezvous socket for ranks of several machines. Ranks of one machine use a file instead."""
    if coordinator is None:
        return contextlib.nullcontext()
    family = socket.AF_INET6 if ":" in coordinator.listening else socket.AF_INET
    return socket.create_server((coordinator.listening, 0), family=family)


@contextlib.contextmanager
def _start_ranks(given: argparse.Namespace, start: Start, listener: socket.socket | None) -> Iterator[LocalRanks]:
    """Starts the ranks of this machine. After the block none of them is running."""
    os.environ[AGENT] = str(os.getpid())
    count = given.nproc_per_node
    where = (start.address, start.port, listener)
    environments = [
        rank_variables(given.node_rank, given.nnodes, local_rank, count, where) for local_rank in range(count)
    ]
    arguments = [*start.arguments, *_threads_argument(start.arguments, count)]
    with tempfile.TemporaryDirectory(prefix="mrlm-ranks-") as directory:
        if given.nnodes == 1:
            own = {RENDEZVOUS_FILE: str(Path(directory) / "meeting"), KEY: secrets.token_hex(32)}
            environments = [{**environment, **own} for environment in environments]
        ranks = LocalRanks([sys.executable, "-m", "mrlm_engine", *arguments], environments, listener, Path(directory))
        try:
            yield ranks
        finally:
            ranks.end()


def _parse() -> tuple[argparse.Namespace, list[str]]:
    """Parses the arguments of this program and returns those of the engine."""
    parser = argparse.ArgumentParser(
        prog="mrlm_engine.launcher.launch",
        description="Starts ranks of one engine. What follows `--` are the engine's own arguments, on machine 0.",
    )
    parser.add_argument("--nproc-per-node", type=int, default=1, help="ranks on this machine")
    parser.add_argument("--nnodes", type=int, default=1, help="machines")
    parser.add_argument("--node-rank", type=int, default=0, help="number of this machine; 0 is where clients connect")
    parser.add_argument("--master-addr", default="", help="address of machine 0; with several machines")
    parser.add_argument("--master-port", type=int, default=29500, help="a free port of machine 0")
    parser.add_argument("--join-seconds", type=float, default=600.0, help="how long machines wait for each other")
    parser.add_argument("engine", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.nnodes > 1 and not given.master_addr:
        parser.error("--nnodes above 1 needs --master-addr, the address of machine 0")
    engine = [argument for argument in given.engine if argument != "--"]
    # Errors in the engine's arguments are then reported once, before any process starts.
    settings = parse_arguments(engine)
    given.strategy, given.parallel = settings.strategy, ",".join(map(str, settings.parallel or ()))
    return given, engine


def _for_others(engine: Sequence[str]) -> list[str]:
    """Removes the arguments that concern only machine 0: the address for clients and their token."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in ("--host", "--port", "--token-file"):
        parser.add_argument(flag)
    return parser.parse_known_args(list(engine))[1]


def _threads_argument(arguments: Sequence[str], ranks: int) -> list[str]:
    """Divides the processors of the machine among the ranks, unless the engine's arguments set the threads."""
    if "--threads" in arguments:
        return []
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ["--threads", str(max(1, available // ranks))]


def _hello(given: argparse.Namespace) -> Hello:
    return hello_of_machine(given.node_rank, given.nnodes, given.nproc_per_node, given.strategy, given.parallel)


def _notify(text: str) -> None:
    _report({"notice": text})


def _report(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
