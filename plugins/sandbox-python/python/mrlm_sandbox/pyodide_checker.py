"""For Pyodide: the checker behind one function that answers messages, with a descriptor to the host for what it asks in between."""

import json
import os

from .checker import Checker, SuiteBroken
from .remote import RunnerEnded

_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_CHUNK = 1 << 16


class PyodideChecker:
    """Answers `compile` with the suite, then `run`. The device takes `ask` and `tested`, each in one write; an answer is read to its end."""

    def __init__(self):
        self._device = os.open("/dev/parent", os.O_RDWR)
        self._checker = Checker()
        self._compiled = None

    def handle(self, message):
        kind, _, text = message.partition("\n")
        try:
            if kind == "compile":
                suite = json.loads(text)
                self._compiled = (suite, self._checker.compile(suite))
            else:
                self._checker.run(*self._compiled, self._ask, self._report)
                # Objects of this suite go now, and not while the next submission is timed.
                self._compiled = None
        except SuiteBroken as error:
            return f"broken\n{error}"
        return "done"

    def _ask(self, message):
        os.write(self._device, f"ask\n{message}".encode())
        chunk = os.read(self._device, _CHUNK)
        chunks = [chunk]
        while len(chunk) == _CHUNK:
            chunk = os.read(self._device, _CHUNK)
            chunks.append(chunk)
        kind, _, answer = b"".join(chunks).decode().partition("\n")
        if kind == "ended":
            raise RunnerEnded
        return answer

    def _report(self, index, result):
        os.write(self._device, f"tested\n{index}\n{_dumps(result)}".encode())
