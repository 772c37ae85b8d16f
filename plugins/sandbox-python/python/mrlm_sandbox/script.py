"""The code of a submission as a module: its start, its streams, and its outcome."""

import ast
import base64
import builtins
import contextlib
import linecache
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from . import faults, values

# Limit of the files that a run returns, all together.
_FETCHED_BYTES = 4 << 20


class Script:
    """Module of one submission or session."""

    def __init__(self) -> None:
        self.source = ""
        self.globals: dict[str, Any] = {}
        # The submission may replace them; its earlier output must still be flushed.
        self._streams = (sys.stdout, sys.stderr)

    def load(self, request: dict[str, Any], name: str) -> dict[str, Any]:
        """Runs the code as the module `name`. Returns the outcome."""
        module = types.ModuleType(name)
        self.globals = module.__dict__
        self.globals.update(__builtins__=builtins, __file__=faults.FILE)
        sys.modules[name] = module
        sys.argv = [faults.FILE, *request.get("arguments", ())]
        self._place(request)
        return self.guard(lambda: exec(self._compile(request["code"]), self.globals))

    def call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Calls a function of the code with arguments from JSON. The outcome has its result."""
        name, arguments = request["call"]["name"], request["call"]["arguments"]

        def call() -> dict[str, Any]:
            if name not in self.globals:
                raise NameError(f"name {name!r} is not defined")
            return values.described(self.globals[name](*arguments), request["outputBytes"])

        return self.guard(call)

    def evaluate(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs code in the present state. The outcome has the value of its last expression."""
        self._place(request)

        def evaluate() -> dict[str, Any]:
            tree = self._compile(request["code"], ast.PyCF_ONLY_AST)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, faults.FILE, "exec", dont_inherit=True), self.globals)
            if last is None:
                return {}
            value = eval(compile(ast.Expression(last.value), faults.FILE, "eval", dont_inherit=True), self.globals)
            self.globals["_"] = value
            return {} if value is None else values.described(value, request["outputBytes"])

        outcome = self.guard(evaluate)
        if outcome == {"verdict": "ok"} and "call" in request:
            return self.call(request)
        return outcome

    def guard(self, act: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
        """Returns the outcome of `act`, with the fields of the dictionary that it returned."""
        try:
            found = act()
            return {"verdict": "ok", **found} if type(found) is dict else {"verdict": "ok"}
        except SystemExit as error:
            return self._left(error)
        except MemoryError:
            return {"verdict": "memory-limit"}
        except BaseException as error:
            return {"verdict": "error", "error": faults.describe(error, self.source)}

    def flush(self) -> None:
        """Flushes the standard streams."""
        for stream in (sys.stdout, sys.stderr, *self._streams):
            # The submission may have closed or replaced it.
            with contextlib.suppress(Exception):
                stream.flush()

    def _left(self, error: SystemExit) -> dict[str, Any]:
        code = int(error.code) if type(error.code) is bool else error.code
        if code is None or (type(code) is int and code == 0):
            return {"verdict": "ok", "exitCode": 0}
        if type(code) is not int:
            print(faults.message_of(error), file=sys.stderr)
            code = 1
        return {"verdict": "error", "exitCode": code & 0xFF, "error": faults.describe(error, self.source)}

    def _compile(self, code: str, flags: int = 0) -> Any:
        """Compiles `code` as Python would read it from a file.

        Raises SyntaxError for each code that Python cannot read.
        """
        self._remember(code)
        try:
            # Before Python 3.12 `compile` raises ValueError for it.
            if "\0" in code:
                raise _unreadable(code, code.index("\0"), "a null character")
            return compile(code.removeprefix("\ufeff"), faults.FILE, "exec", flags, dont_inherit=True)
        except UnicodeEncodeError as error:
            raise _unreadable(code, error.start, "half of a surrogate pair") from None

    def _remember(self, code: str) -> None:
        """Makes the source available to tracebacks and to `inspect` in the submission."""
        self.source = code
        linecache.cache[faults.FILE] = (len(code), None, [line + "\n" for line in code.split("\n")], faults.FILE)

    def _place(self, request: dict[str, Any]) -> None:
        """Writes the files of a request."""
        for path, content in request.get("files", {}).items():
            folder = os.path.dirname(path)
            if folder:
                os.makedirs(folder, exist_ok=True)
            data = content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])
            with open(path, "wb") as file:
                file.write(data)

    def fetch(self, paths: list[str], home: str) -> dict[str, str]:
        """Returns files of the folder `home` in base64. Leaves out what is no regular file there, or is too large."""
        found: dict[str, str] = {}
        left = _FETCHED_BYTES
        for path in paths:
            with contextlib.suppress(OSError, ValueError):
                real = os.path.realpath(os.path.join(home, path))
                if not real.startswith(os.path.join(home, "")) or not os.path.isfile(real):
                    continue
                with open(real, "rb") as file:
                    data = file.read(left + 1)
                if len(data) <= left:
                    left -= len(data)
                    found[path] = base64.b64encode(data).decode()
        return found


def _unreadable(code: str, at: int, what: str) -> SyntaxError:
    line = code.count("\n", 0, at) + 1
    return SyntaxError(f"the source has {what}", (faults.FILE, line, at - code.rfind("\n", 0, at), None))
