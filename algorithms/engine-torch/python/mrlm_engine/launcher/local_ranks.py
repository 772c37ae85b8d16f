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
    """Started at once: `command` with the variables of each place. Rank 0 inherits the socket where the ranks meet."""

    def __init__(
        self,
        command: Sequence[str],
        places: Sequence[Mapping[str, str]],
        listener: socket.socket | None,
        directory: Path,
    ) -> None:
        sockets = [] if listener is None else [listener.fileno()]
        self._numbers = [int(place["RANK"]) for place in places]
        # Where torch.distributed.elastic leaves what a rank says of its own failure.
        self._records = [directory / f"{number}.json" for number in self._numbers]
        self._processes = [
            subprocess.Popen(
                command,
                env={**os.environ, **place, "TORCHELASTIC_ERROR_FILE": str(record)},
                pass_fds=sockets if i == 0 else (),
            )
            for i, (place, record) in enumerate(zip(places, self._records, strict=True))
        ]

    def have_ended(self) -> bool:
        """Whether all have, well or not."""
        return all(process.poll() is not None for process in self._processes)

    def failure(self) -> tuple[int, int, str] | None:
        """Number, process and fate of a rank that failed; of several the one that could say why."""
        failed = [i for i, process in enumerate(self._processes) if process.poll() not in (None, 0)]
        if not failed:
            return None
        first = min(failed, key=lambda i: (not self._records[i].is_file(), self._processes[i].returncode > 0, i))
        return self._numbers[first], self._processes[first].pid, self._fate(first)

    def ask_to_end(self) -> None:
        """SIGTERM: a rank finishes what it is doing."""
        self._signal(signal.SIGTERM)

    def end(self, grace: float = 0) -> None:
        """Waits that long, ends those that are left, and comes back when none is."""
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

    def _fate(self, i: int) -> str:
        status = self._processes[i].returncode
        if self._records[i].is_file():
            message = json.loads(self._records[i].read_text("utf-8"))["message"]
            said = str(message.get("message", "") if isinstance(message, dict) else message)
            return f"failed: {(said.splitlines() or [''])[0]}"
        return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with exit code {status}"
