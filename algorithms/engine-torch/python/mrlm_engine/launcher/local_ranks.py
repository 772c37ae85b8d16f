"""The ranks of this machine, as processes, with torchrun's variables."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# Seconds between asking ranks to end and ending them.
GRACE = 8.0


class LocalRanks:
    """Starts `command` with the variables of each environment. Rank 0 inherits the rendezvous socket."""

    def __init__(
        self,
        command: Sequence[str],
        environments: Sequence[Mapping[str, str]],
        listener: socket.socket | None,
        directory: Path,
    ) -> None:
        sockets = [] if listener is None else [listener.fileno()]
        self._numbers = [int(environment["RANK"]) for environment in environments]
        # torch.distributed.elastic writes the failure of a rank to these files.
        self._records = [directory / f"{number}.json" for number in self._numbers]
        self._processes = [
            subprocess.Popen(
                command,
                env={**os.environ, **environment, "TORCHELASTIC_ERROR_FILE": str(record)},
                pass_fds=sockets if i == 0 else (),
            )
            for i, (environment, record) in enumerate(zip(environments, self._records, strict=True))
        ]

    def have_ended(self) -> bool:
        """Whether all ranks have exited, with any status."""
        return all(process.poll() is not None for process in self._processes)

    def failure(self) -> tuple[int, int, str] | None:
        """Returns the number, process id and exit reason of a failed rank; of several one that recorded its failure."""
        failed = [i for i, process in enumerate(self._processes) if process.poll() not in (None, 0)]
        if not failed:
            return None
        first = min(failed, key=lambda i: (not self._records[i].is_file(), self._processes[i].returncode > 0, i))
        return self._numbers[first], self._processes[first].pid, self._exit_reason(first)

    def ask_to_end(self) -> None:
        """Sends SIGTERM. A rank then completes its current call."""
        self._signal(signal.SIGTERM)

    def end(self, grace: float = 0) -> None:
        """Waits that long, kills the remaining ranks, and returns when all have exited."""
        deadline = time.monotonic() + grace
        while not self.have_ended() and time.monotonic() < deadline:
            time.sleep(0.05)
        self._signal(signal.SIGKILL)
        for process in self._processes:
            process.wait()

    def _signal(self, number: int) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)

    def _exit_reason(self, i: int) -> str:
        status = self._processes[i].returncode
        if self._records[i].is_file():
            message = json.loads(self._records[i].read_text("utf-8"))["message"]
            text = str(message.get("message", "") if isinstance(message, dict) else message)
            return f"failed: {(text.splitlines() or [''])[0]}"
        return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with exit code {status}"
