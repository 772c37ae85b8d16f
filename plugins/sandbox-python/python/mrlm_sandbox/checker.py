"""Runs the tests of a suite against a submission in another process.

The test code is trusted. It reaches the submission through proxies only; what they return was built here by `codec`,
from data.
"""

import builtins
import json
import random
import time
from collections.abc import Callable
from types import CodeType
from typing import Any

from . import verdicts
from .proxies import EntryPoints
from .remote import Remote, RunnerEnded

# Number of test sources whose compiled code is kept: the same tests check many submissions.
_KEPT_CODES = 512

_sleep = time.sleep
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class SuiteBroken(Exception):
    """Error for a suite that failed before it called the submission: there is no verdict."""


class Checker:
    """Interpreter of the tests, for many suites."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}
        self._entry_points: dict[str, EntryPoints] = {}

    def compile(self, suite: dict[str, Any]) -> tuple[CodeType, list[CodeType]]:
        """Compiles harness and tests. Raises SuiteBroken. May run while the submission starts."""
        return (
            self._code(suite.get("harness") or "", "<harness>"),
            [self._code(test["code"], f"<test {test['name']}>") for test in suite["tests"]],
        )

    def run(
        self,
        suite: dict[str, Any],
        codes: tuple[CodeType, list[CodeType]],
        ask: Callable[[str], str],
        report: Callable[[int, dict[str, Any]], None],
    ) -> None:
        """Runs the tests.

        `ask(message)` returns the runner's answer or raises RunnerEnded; `report(index, result)` gets each verdict.
        """
        harness, tests = codes
        remote = Remote(ask, {name: self._entry_point(name) for name in suite["entryPoints"]})
        namespace = {"__name__": "tests", "__builtins__": builtins, **remote.entry_points}
        # The submission must not know the seed: it draws from the same generator.
        random.seed(suite.get("seed") or _dumps([suite.get("harness"), suite["tests"]]))
        time.sleep = _sleeping(remote)
        failure = self._attempt(harness, suite.get("harness") or "", namespace, remote)
        if failure is not None and not remote.was_asked:
            raise SuiteBroken(f"The harness raised before any test began: {failure['message']}")
        for index, (code, test) in enumerate(zip(tests, suite["tests"], strict=True)):
            if remote.ended:
                return
            result = failure or self._attempt(code, test["code"], namespace, remote)
            # The parent explains the test in which the runner ended: it knows the limit.
            if not remote.ended:
                report(index, result or {"verdict": "passed"})

    def _attempt(self, code: CodeType, source: str, namespace: dict[str, Any], remote: Remote) -> dict[str, Any] | None:
        """Returns None, or the failure."""
        remote.begin()
        try:
            exec(code, namespace)
        except RunnerEnded:
            return {"verdict": "failed", "message": "the submission ended"}
        except BaseException as error:  # SystemExit and KeyboardInterrupt fail a test too.
            remote.is_quiet = True
            try:
                return verdicts.failure(error, source, remote)
            except Exception:  # The submission's value cannot be described.
                return {"verdict": "failed", "message": type(error).__name__[:200]}
            finally:
                remote.is_quiet = False
        return None

    def _entry_point(self, name: str) -> EntryPoints:
        if name not in self._entry_points:
            if len(self._entry_points) == _KEPT_CODES:
                self._entry_points.clear()
            self._entry_points[name] = EntryPoints(name)
        return self._entry_points[name]

    def _code(self, source: str, name: str) -> CodeType:
        key = (source, name)
        code = self._codes.get(key)
        if code is None:
            try:
                code = compile(source, name, "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise SuiteBroken(f"The code of {name} cannot be compiled: {type(error).__name__}: {error}") from None
            while len(self._codes) >= _KEPT_CODES:
                del self._codes[next(iter(self._codes))]
            self._codes[key] = code
        return code


def _sleeping(remote: Remote) -> Callable[[Any], None]:
    """Returns `time.sleep` for tests: objects with a time limit change while the tests sleep."""

    def sleep(seconds: Any) -> None:
        _sleep(seconds)
        remote.act()

    return sleep
