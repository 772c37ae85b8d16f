"""Runs the tests of a suite against a submission that lives in another process.

The test code is trusted. Of the submission it sees proxies alone, and what they return `codec` has built here, from data.
"""

import builtins
import json
import random

from . import codec, verdicts
from .proxies import EntryPoints
from .remote import Remote, RunnerEnded

# Texts of tests whose compiled code is kept: the same tests checker many submissions.
_KEPT_CODES = 512

_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class SuiteBroken(Exception):
    """The suite is at fault, before it has asked anything of the submission: there is no verdict."""


class Checker:
    def __init__(self):
        self._codes = {}
        self._entry_points = {}

    def compile(self, suite):
        """Compiled harness and tests; raises SuiteBroken. It can be done while the submission starts."""
        return (
            self._code(suite.get("harness") or "", "<harness>"),
            [self._code(test["code"], f"<test {test['name']}>") for test in suite["tests"]],
        )

    def run(self, suite, codes, ask, report):
        """Runs the tests: `ask(message)` gives the runner's answer or raises RunnerEnded, `report(index, result)` receives a verdict."""
        harness, tests = codes
        remote = Remote(ask, {name: self._entry_point(name) for name in suite["entryPoints"]})
        namespace = {"__name__": "tests", "__builtins__": builtins, **remote.entry_points}
        # Nothing that a submission knows: it draws from the same generator.
        random.seed(suite.get("seed") or _dumps([suite.get("harness"), suite["tests"]]))
        failure = self._attempt(harness, suite.get("harness") or "", namespace, remote)
        if failure is not None and not remote.was_asked:
            raise SuiteBroken(f"The harness raised before any test began: {failure['message']}")
        for index, (code, test) in enumerate(zip(tests, suite["tests"])):
            if remote.ended:
                return
            result = failure or self._attempt(code, test["code"], namespace, remote)
            # The one in which the runner ended is the parent's to explain: it knows the limit.
            if not remote.ended:
                report(index, result or {"verdict": "passed"})

    def _attempt(self, code, source, namespace, remote):
        """None, or how it failed."""
        remote.begin()
        try:
            exec(code, namespace)
        except RunnerEnded:
            return {"verdict": "failed", "message": "the submission ended"}
        except BaseException as error:  # noqa: BLE001 - SystemExit and its like fail a test as everything does.
            remote.is_quiet = True
            try:
                return verdicts.failure(error, source, remote)
            except Exception:  # noqa: BLE001 - what the submission returned cannot be put into words.
                return {"verdict": "failed", "message": type(error).__name__[:200]}
            finally:
                remote.is_quiet = False
        return None

    def _entry_point(self, name):
        if name not in self._entry_points:
            if len(self._entry_points) == _KEPT_CODES:
                self._entry_points.clear()
            self._entry_points[name] = EntryPoints(name)
        return self._entry_points[name]

    def _code(self, source, name):
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
