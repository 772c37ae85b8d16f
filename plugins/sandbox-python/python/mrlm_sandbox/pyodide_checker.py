"""Checker in Pyodide: one function answers messages; requests to the parent go through a device file."""

import json
import os
from types import CodeType
from typing import Any

from .checker import Checker, SuiteBroken
from .remote import RunnerEnded

_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_CHUNK = 1 << 16


class PyodideChecker:
    """Answers `compile` with the suite, then `run`.

    The device takes `ask` and `tested`, one write each; answers are read to the end.
    """

    def __init__(self) -> None:
        self._device = os.open("/dev/parent", os.O_RDWR)
        self._checker = Checker()
        self._compiled: tuple[dict[str, Any], tuple[CodeType, list[CodeType]]] | None = None

    def handle(self, message: str) -> str:
        """Returns the answer to a message."""
        kind, _, text = message.partition("\n")
        try:
            if kind == "compile":
                suite = json.loads(text)
                self._compiled = (suite, self._checker.compile(suite))
            else:
                assert self._compiled is not None, "the parent sends `compile` first"
                self._checker.run(*self._compiled, self._ask, self._report)
                # Release the objects of this suite now, and not while the next submission is timed.
                self._compiled = None
        except SuiteBroken as error:
            return f"broken\n{error}"
        return "done"

    def _ask(self, message: str) -> str:
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

    def _report(self, index: int, result: dict[str, Any]) -> None:
        os.write(self._device, f"tested\n{index}\n{_dumps(result)}".encode())
