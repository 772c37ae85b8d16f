"""Supervisor's side of one runner: its answers, its output and its end."""

import codecs
import os
import select
import signal
import socket
import time
from typing import Any, NoReturn

from . import codec, frames, native_runner, outcomes
from .remote import RunnerEnded
from .zygote_client import ZygoteClient

# Maximum bytes of an answer: one value, and the arguments that a call has changed.
_LONGEST_ANSWER = 2 * codec.LONGEST + (1 << 16)
# Interval of checks of the processor time, in seconds.
_TICK = 0.05
# Pause after output, in seconds.
_OUTPUT_PAUSE = 0.001
_CHUNK = 1 << 16
_PEAK = b"VmHWM:"
# Maximum capacity of a pipe that a process without privileges can set; see pipe(7).
_LARGEST_PIPE = 1 << 20


class Output:
    """Reader of one output stream of a runner, up to a limit."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._left = 1 << 16
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._gathered: list[bytes] = []

    def begin(self, limit: int) -> None:
        """Sets the limit of a submission, in bytes."""
        # One whole character more, of up to four bytes, shows the parent that the output was longer.
        self._left = limit + 4

    def read(self) -> bool:
        """Reads available bytes; False at the end."""
        try:
            chunk = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        kept = chunk[: self._left]
        self._left -= len(kept)
        self._gathered.append(kept)
        return True

    def drain(self) -> None:
        """Reads all available bytes, up to the size of a pipe: a thread may still be printing."""
        for _ in range(_LARGEST_PIPE // _CHUNK):
            if not select.select([self.fd], [], [], 0)[0] or not self.read():
                return

    def take(self) -> str:
        """Returns the text read since the last call."""
        text = self._decoder.decode(b"".join(self._gathered)) if self._gathered else ""
        self._gathered.clear()
        return text


class SupervisedRunner:
    """A runner process that no submission has used. It starts in the background."""

    def __init__(self, zygote: ZygoteClient) -> None:
        ours, theirs = socket.socketpair()
        outputs = [os.pipe(), os.pipe()]
        self._zygote = zygote
        self._spawned = zygote.spawn(theirs.fileno(), outputs[0][1], outputs[1][1])
        theirs.close()
        for reader, writer in outputs:
            os.close(writer)
            os.set_blocking(reader, False)
        self.outputs = {"stdout": Output(outputs[0][0]), "stderr": Output(outputs[1][0])}
        self._channel = ours
        self._channel.setblocking(False)
        self._reader = frames.FrameReader(ours.fileno(), _LONGEST_ANSWER)
        self._poll = select.poll()
        for fd in (ours.fileno(), *(output.fd for output in self.outputs.values())):
            self._poll.register(fd, select.POLLIN)
        self._deadline = time.monotonic() + 60
        self._next_check = self._next_output = 0.0
        self._ignored: list[int] = []
        self._cpu_limit: float | None = None
        self._cpu_base = self._cpu_used = 0.0
        self._is_ready = False
        self.ending: dict[str, Any] | None = None

    def begin(self, limits: dict[str, Any], message: str) -> None:
        """Begins a submission, or an input of a session, by sending `message`."""
        self.get_ready()
        self._deadline = time.monotonic() + limits["wallMs"] / 1000
        self._cpu_base = self._cpu_seconds()
        self._cpu_limit = self._cpu_base + limits["cpuMs"] / 1000
        for output in self.outputs.values():
            output.begin(limits["outputBytes"])
        self.send(message)

    def ask(self, message: str) -> str:
        """Sends a message and returns the answer. Raises RunnerEnded and sets `ending`."""
        self.send(message)
        return self.answer()

    def send(self, message: str) -> None:
        """Sends a message; keeps answers and output that arrive meanwhile."""
        data = memoryview(frames.encode(message))
        while data:
            try:
                data = data[self._channel.send(data) :]
            except BlockingIOError:
                self._wait(select.POLLIN | select.POLLOUT)
            except OSError:
                return  # The runner has ended; `answer` reports how.

    def answer(self) -> str:
        """Returns the next answer. Raises RunnerEnded and sets `ending`."""
        if self.ending is not None:
            raise RunnerEnded
        try:
            while (text := self._reader.next()) is None:
                self._wait(select.POLLIN)
        except frames.FrameTooLong:
            self._end(dict(outcomes.BROKEN))
        return text

    def printed(self) -> dict[str, str]:
        """Returns the output since the last call, by stream."""
        if self.ending is None:
            for output in self.outputs.values():
                output.drain()
        return {name: text for name, output in self.outputs.items() if (text := output.take())}

    def cpu_ms(self) -> float:
        """Returns the processor time of the submission so far, in milliseconds."""
        if self.ending is None:
            self._cpu_used = self._cpu_seconds()
        return max(0.0, self._cpu_used - self._cpu_base) * 1000

    def peak_memory(self) -> dict[str, int]:
        """Returns `peakMemoryBytes`, the largest growth since the start; nothing after the end or without /proc."""
        peak = None if self.ending is not None else _peak_memory(self.pid)
        return (
            {}
            if peak is None or self._zygote.runner_bytes is None
            else {"peakMemoryBytes": max(0, peak - self._zygote.runner_bytes)}
        )

    def kill(self) -> None:
        """Kills the runner and all processes that it started."""
        self.get_ready(quietly=True)
        if self.ending is None:
            self.ending = {"verdict": "killed"}
            os.kill(self.pid, signal.SIGKILL)
            self._zygote.reap(self.pid)
        self._channel.close()
        for output in self.outputs.values():
            os.close(output.fd)

    def get_ready(self, quietly: bool = False) -> None:
        """Waits for the start of the process; unless `quietly`, also for its first message."""
        if self._is_ready:
            return
        self._is_ready = True
        self.pid = self._spawned()
        if quietly:
            return
        if self.answer() != native_runner.READY:
            raise RuntimeError("the runner did not start")
        if self._zygote.runner_bytes is None:
            self._zygote.runner_bytes = _peak_memory(self.pid)

    def _wait(self, channel_events: int) -> None:
        """Waits for an event, reads answers and output, and enforces the deadline and the limit of processor time.

        After reading output it ignores output for a moment: a program that prints many lines wakes this process once
        per pause, not once per line.
        """
        self._poll.modify(self._channel.fileno(), channel_events)
        now = time.monotonic()
        if now >= self._deadline:
            self._end({"verdict": "timeout"})
        if now >= self._next_check:
            self._next_check = now + _TICK
            if self._cpu_limit is not None and self._cpu_seconds() > self._cpu_limit:
                self._end({"verdict": "cpu-limit"})
        if self._ignored and now >= self._next_output:
            for fd in self._ignored:
                self._poll.register(fd, select.POLLIN)
            self._ignored.clear()
        pause = min(self._deadline, self._next_output if self._ignored else self._next_check) - now
        for fd, event in self._poll.poll(max(0, pause) * 1000 + 1):
            if fd != self._channel.fileno():
                self._poll.unregister(fd)
                if next(output for output in self.outputs.values() if output.fd == fd).read():
                    self._ignored.append(fd)
                    self._next_output = now + _OUTPUT_PAUSE
            elif event & ~select.POLLOUT and not self._receive():
                self._end(None)

    def _receive(self) -> bool:
        """Reads from the channel; False if it is closed."""
        try:
            return self._reader.read()
        except BlockingIOError:
            return True
        except frames.FrameTooLong:
            self._end(dict(outcomes.BROKEN))
        except OSError:
            return False

    def _end(self, ending: dict[str, Any] | None) -> NoReturn:
        """Kills the runner and raises RunnerEnded. Without `ending`, the exit status of the process gives it."""
        os.kill(self.pid, signal.SIGKILL)
        self._cpu_used = self._cpu_seconds()
        if ending is None:
            self.ending = _ending_of(self._zygote.reap_now(self.pid))
        else:
            # The process may exit late on a busy machine; do not wait for it.
            self._zygote.reap(self.pid)
            self.ending = ending
        for output in self.outputs.values():
            output.drain()
        raise RunnerEnded

    def _cpu_seconds(self) -> float:
        # Clock of the processor time of another process; see clock_getcpuclockid(3).
        try:
            return time.clock_gettime(~self.pid << 3 | 2)
        except OSError:
            return self._cpu_base


def _peak_memory(pid: int) -> int | None:
    """Returns the peak resident memory of a process in bytes; None if it is unknown."""
    try:
        fd = os.open(f"/proc/{pid}/status", os.O_RDONLY)
        try:
            status = os.read(fd, 4096)
        finally:
            os.close(fd)
        return int(status[status.index(_PEAK) + len(_PEAK) :].split(None, 1)[0]) * 1024
    except (OSError, ValueError):
        return None


def _ending_of(status: int) -> dict[str, Any]:
    """Returns the ending of a process that ended by itself."""
    if os.WIFSIGNALED(status):
        return {"verdict": "cpu-limit" if os.WTERMSIG(status) == signal.SIGXCPU else "killed"}
    code = os.WEXITSTATUS(status)
    if code == 0:
        return {"verdict": "ok", "exitCode": 0}
    error = {"name": "SystemExit", "message": str(code), "trace": f"SystemExit: {code}"}
    return {"verdict": "error", "exitCode": code, "error": error}
