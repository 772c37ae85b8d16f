"""The child that the pool starts: the trusted half of the kind `native`. It carries out requests, runs the tests, and has submissions run by runners, which a
zygote forks."""

import json

from . import codec, frames, outcomes
from .checker import Checker, SuiteBroken
from .remote import RunnerEnded
from .supervised_runner import SupervisedRunner

# Characters of output in one frame: the parent takes none of any length, and JSON makes twelve characters of some.
_LONGEST_PIECE = 1 << 20
# That reading the longest answer takes here.
_READING_BYTES = 20 * codec.LONGEST


class Server:
    def __init__(self, zygote, request_fd, answer_fd, is_for_session):
        self._zygote = zygote
        self._requests = frames.FrameReader(request_fd)
        self._answer_fd = answer_fd
        self._checker = Checker()
        self._runner = SupervisedRunner(zygote)
        self._spare = None if is_for_session else SupervisedRunner(zygote)
        self._request = None

    def serve(self):
        for runner in (self._runner, self._spare):
            if runner is not None:
                runner.get_ready()
        # The parent measures memory when a request begins: its runner and the next one may be forked before that, or after. The kernel keeps a runner's limit.
        self._send({"type": "ready", "ownBytes": 2 * self._zygote.resident_bytes + _READING_BYTES})
        while (text := self._requests.wait()) is not None:
            self._request = json.loads(text)
            try:
                result = _OPERATIONS[self._request["op"]](self)
            except Exception as error:  # noqa: BLE001 - the sandbox failed: there is no verdict.
                self._say("failed", message=f"{type(error).__name__}: {error}")
                raise
            self._say("result", result=result)
            if self._request["op"] in ("run", "test"):
                self._change_runners()

    def _change_runners(self):
        """A submission has ended: the next one gets the runner that has become ready meanwhile, and the zygote makes another."""
        self._runner.kill()
        self._runner = self._spare
        self._spare = SupervisedRunner(self._zygote)

    def _run(self):
        return self._guard(lambda: self._begun("run", self._request["submission"]))

    def _open(self):
        return self._guard(lambda: self._begun("open", {"files": self._request["files"]}))

    def _evaluate(self):
        result = self._guard(lambda: self._begun("evaluate", self._request["submission"]))
        return {**result, "spent": self._runner.ending is not None}

    def _test(self):
        suite = self._request["suite"]

        def load():
            self._begin("load", self._request["submission"])
            # While the submission starts.
            try:
                self._codes = self._checker.compile(suite)
            except SuiteBroken as error:
                raise RuntimeError(str(error)) from None
            return self._ended()

        loaded = self._guard(load)
        if loaded["verdict"] != "ok" or "exitCode" in loaded:
            return loaded
        self._say("testing")
        return self._guard(lambda: self._checkerd(suite) or loaded)

    def _checkerd(self, suite):
        runner = self._runner
        self._checker.run(
            suite, self._codes, runner.ask, lambda index, result: self._say("tested", index=index, result=result)
        )
        return runner.ending

    def _begin(self, kind, submission):
        limits = self._request["limits"]
        rest = {key: value for key, value in submission.items() if key not in ("stdin", "limits")}
        start = {**limits, "stdin": submission.get("stdin", ""), "isOnly": self._request["op"] in ("run", "test")}
        self._runner.begin(
            limits, f"begin\n{json.dumps(start)}\n{kind}\n{json.dumps({**rest, 'outputBytes': limits['outputBytes']})}"
        )

    def _begun(self, kind, submission):
        self._begin(kind, submission)
        return self._ended()

    def _ended(self):
        return outcomes.read(self._runner.answer())

    def _guard(self, act):
        """The result of `act`, or how the submission ended instead; with what it has printed."""
        try:
            result = act()
        except RunnerEnded:
            result = self._runner.ending
        except (ValueError, RecursionError, MemoryError):
            result = dict(outcomes.BROKEN)
        for name, text in self._runner.printed().items():
            for start in range(0, len(text), _LONGEST_PIECE):
                self._say("output", stream=name, text=text[start : start + _LONGEST_PIECE])
        result.pop("peakMemoryBytes", None)
        return {**result, "cpuMs": self._runner.cpu_ms(), **self._runner.peak_memory()}

    def _say(self, kind, **content):
        self._send({"type": kind, "id": self._request["id"], **content})

    def _send(self, message):
        frames.write(self._answer_fd, json.dumps(message))


_OPERATIONS = {"run": Server._run, "test": Server._test, "open": Server._open, "evaluate": Server._evaluate}
