"""Child process that the pool starts: the trusted half of the kind `native`.

It serves requests and runs the tests. Runners, which a zygote forks, run the submissions.
"""

import json
from collections.abc import Callable
from typing import Any

from . import codec, frames, outcomes
from .checker import Checker, SuiteBroken
from .remote import RunnerEnded
from .supervised_runner import SupervisedRunner
from .zygote_client import ZygoteClient

# Maximum characters of output in one frame: the parent limits frames, and JSON writes some characters as twelve.
_LONGEST_PIECE = 1 << 20
# Memory for reading the longest answer.
_READING_BYTES = 20 * codec.LONGEST


class Server:
    """Serves the requests of the pool, one after the other."""

    def __init__(self, zygote: ZygoteClient, request_fd: int, answer_fd: int, is_for_session: bool) -> None:
        self._zygote = zygote
        self._requests = frames.FrameReader(request_fd)
        self._answer_fd = answer_fd
        self._checker = Checker()
        self._runner = SupervisedRunner(zygote)
        self._spare = None if is_for_session else SupervisedRunner(zygote)
        self._request: dict[str, Any] = {}

    def serve(self) -> None:
        """Serves until the pool closes the requests."""
        for runner in (self._runner, self._spare):
            if runner is not None:
                runner.get_ready()
        # The parent measures memory when a request begins. Two runners may be forked before or after that. The kernel
        # enforces a runner's limit.
        self._send({"type": "ready", "ownBytes": 2 * self._zygote.resident_bytes + _READING_BYTES})
        while (text := self._requests.wait()) is not None:
            self._request = json.loads(text)
            try:
                result = _OPERATIONS[self._request["op"]](self)
            except Exception as error:
                # The sandbox failed: there is no verdict.
                self._report("failed", message=f"{type(error).__name__}: {error}")
                raise
            self._report("result", result=result)
            if self._request["op"] in ("run", "test"):
                self._change_runners()

    def _change_runners(self) -> None:
        """Replaces the runner by the spare one, which is ready, and lets the zygote fork another."""
        self._runner.kill()
        assert self._spare is not None
        self._runner = self._spare
        self._spare = SupervisedRunner(self._zygote)

    def _run(self) -> dict[str, Any]:
        return self._guard(lambda: self._begun("run", self._request["submission"]))

    def _open(self) -> dict[str, Any]:
        return self._guard(lambda: self._begun("open", {"files": self._request["files"]}))

    def _evaluate(self) -> dict[str, Any]:
        result = self._guard(lambda: self._begun("evaluate", self._request["submission"]))
        return {**result, "spent": self._runner.ending is not None}

    def _close(self) -> dict[str, Any]:
        self._runner.kill()
        self._runner = SupervisedRunner(self._zygote)
        self._runner.get_ready()
        return {"verdict": "ok"}

    def _test(self) -> dict[str, Any]:
        suite = self._request["suite"]

        def load() -> dict[str, Any]:
            self._begin("load", self._request["submission"])
            # The submission starts meanwhile.
            try:
                self._codes = self._checker.compile(suite)
            except SuiteBroken as error:
                raise RuntimeError(str(error)) from None
            return self._ended()

        loaded = self._guard(load)
        if loaded["verdict"] != "ok" or "exitCode" in loaded:
            return loaded
        self._report("testing")
        return self._guard(lambda: self._run_tests(suite) or loaded)

    def _run_tests(self, suite: dict[str, Any]) -> dict[str, Any] | None:
        runner = self._runner
        self._checker.run(
            suite, self._codes, runner.ask, lambda index, result: self._report("tested", index=index, result=result)
        )
        return runner.ending

    def _begin(self, kind: str, submission: dict[str, Any]) -> None:
        limits = self._request["limits"]
        rest = {key: value for key, value in submission.items() if key not in ("stdin", "limits")}
        start = {**limits, "stdin": submission.get("stdin", ""), "isOnly": self._request["op"] in ("run", "test")}
        self._runner.begin(
            limits, f"begin\n{json.dumps(start)}\n{kind}\n{json.dumps({**rest, 'outputBytes': limits['outputBytes']})}"
        )

    def _begun(self, kind: str, submission: dict[str, Any]) -> dict[str, Any]:
        self._begin(kind, submission)
        return self._ended()

    def _ended(self) -> dict[str, Any]:
        return outcomes.read(self._runner.answer())

    def _guard(self, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Returns the result of `act`, or the ending of the submission, and sends its output."""
        try:
            result = act()
        except RunnerEnded:
            result = self._runner.ending or dict(outcomes.BROKEN)
        except (ValueError, RecursionError, MemoryError):
            result = dict(outcomes.BROKEN)
        for name, text in self._runner.printed().items():
            for start in range(0, len(text), _LONGEST_PIECE):
                self._report("output", stream=name, text=text[start : start + _LONGEST_PIECE])
        result.pop("peakMemoryBytes", None)
        return {**result, "cpuMs": self._runner.cpu_ms(), **self._runner.peak_memory()}

    def _report(self, kind: str, **content: Any) -> None:
        self._send({"type": kind, "id": self._request["id"], **content})

    def _send(self, message: dict[str, Any]) -> None:
        frames.write(self._answer_fd, json.dumps(message))


_OPERATIONS = {
    "run": Server._run,
    "test": Server._test,
    "open": Server._open,
    "evaluate": Server._evaluate,
    "close": Server._close,
}
