"""The code of a submission as a module: its start, its streams, and how it ended."""

import ast
import builtins
import linecache
import os
import sys
import types

from . import faults, values


class Script:
    def __init__(self):
        self.source = ""
        self.globals = {}
        # The submission may put others in their place; what it printed must come out in any case.
        self._streams = (sys.stdout, sys.stderr)

    def load(self, request, name):
        """Runs the code as the module `name`. The answer says how it ended."""
        module = types.ModuleType(name)
        self.globals = module.__dict__
        self.globals.update(__builtins__=builtins, __file__=faults.FILE)
        sys.modules[name] = module
        sys.argv = [faults.FILE, *request.get("arguments", ())]
        self._place(request)
        return self.guard(lambda: exec(self._compile(request["code"]), self.globals))

    def call(self, request):
        """Calls a function of the code with arguments from JSON; the answer has its result."""
        name, arguments = request["call"]["name"], request["call"]["arguments"]

        def call():
            if name not in self.globals:
                raise NameError(f"name {name!r} is not defined")
            return values.told(self.globals[name](*arguments), request["outputBytes"])

        return self.guard(call)

    def evaluate(self, request):
        """Runs code in the present state. The answer has the value of its last expression."""
        self._place(request)

        def evaluate():
            tree = self._compile(request["code"], ast.PyCF_ONLY_AST)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, faults.FILE, "exec", dont_inherit=True), self.globals)
            if last is None:
                return {}
            value = eval(compile(ast.Expression(last.value), faults.FILE, "eval", dont_inherit=True), self.globals)
            self.globals["_"] = value
            return {} if value is None else values.told(value, request["outputBytes"])

        outcome = self.guard(evaluate)
        if outcome == {"verdict": "ok"} and "call" in request:
            return self.call(request)
        return outcome

    def guard(self, act):
        """How `act` ended; what it returned, if that is a dictionary, goes into the answer."""
        try:
            found = act()
            return {"verdict": "ok", **found} if type(found) is dict else {"verdict": "ok"}
        except SystemExit as error:
            return self._left(error)
        except MemoryError:
            return {"verdict": "memory-limit"}
        except BaseException as error:  # noqa: BLE001
            return {"verdict": "error", "error": faults.describe(error, self.source)}

    def flush(self):
        for stream in (sys.stdout, sys.stderr, *self._streams):
            try:
                stream.flush()
            except Exception:  # noqa: BLE001 - closed, or no stream of Python's at all.
                pass

    def _left(self, error):
        code = int(error.code) if type(error.code) is bool else error.code
        if code is None or type(code) is int and code == 0:
            return {"verdict": "ok", "exitCode": 0}
        if type(code) is not int:
            print(faults.message_of(error), file=sys.stderr)
            code = 1
        return {"verdict": "error", "exitCode": code & 0xFF, "error": faults.describe(error, self.source)}

    def _compile(self, code, flags=0):
        """What `compile` makes of `code`, read as a file that holds it would be; whatever cannot be read is a SyntaxError."""
        self._remember(code)
        try:
            # Before Python 3.12 `compile` raises ValueError for it.
            if "\0" in code:
                raise _unreadable(code, code.index("\0"), "a null character")
            return compile(code.removeprefix("\ufeff"), faults.FILE, "exec", flags, dont_inherit=True)
        except UnicodeEncodeError as error:
            raise _unreadable(code, error.start, "half of a surrogate pair") from None

    def _remember(self, code):
        """For tracebacks, and for `inspect` in the submission itself."""
        self.source = code
        linecache.cache[faults.FILE] = (len(code), None, [line + "\n" for line in code.split("\n")], faults.FILE)

    def _place(self, request):
        """The files of a request, and what it has for standard input."""
        for path, content in request.get("files", {}).items():
            folder = os.path.dirname(path)
            if folder:
                os.makedirs(folder, exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(content)


def _unreadable(code, at, what):
    line = code.count("\n", 0, at) + 1
    return SyntaxError(f"the source has {what}", (faults.FILE, line, at - code.rfind("\n", 0, at), None))
