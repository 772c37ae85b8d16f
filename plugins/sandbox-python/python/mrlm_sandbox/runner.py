"""Runs one submission: its top-level code, then calls by the tests.

The submission can change all of this code at run time. So no verdict is decided here, and the checker treats each
answer as written by the submission. A message is lines of text: the first names its kind, the others are JSON, texts of
`codec`, or names.
"""

import atexit
import builtins
import json
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import codec, errors, faults
from .objects import Objects
from .script import Script

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_loads = json.JSONDecoder().decode
# Limits of reading items ahead.
_AHEAD_SECONDS = 0.005
_AHEAD_CHARACTERS = 1 << 20


class Runner:
    """Interpreter of one submission or one session."""

    def __init__(self) -> None:
        self._script = Script()
        self._objects = Objects(lambda: self._script.globals)
        self._last: BaseException | None = None
        self._loop: AbstractEventLoop | None = None

    def handle(self, message: str) -> str:
        """Returns the answer to a message."""
        kind, *lines = message.split("\n")
        return _ANSWERS[kind](self, *lines)

    def _run(self, text: str) -> str:
        """Runs a whole program: its code, perhaps a call, and the end of a Python program."""
        request = _loads(text)
        script = self._script
        home = os.path.realpath(os.getcwd())
        outcome = script.load(request, "__main__")
        if outcome == {"verdict": "ok"} and "call" in request:
            outcome = script.call(request)
        end = script.guard(_end)
        script.flush()
        outcome = end if outcome["verdict"] == "ok" and end["verdict"] != "ok" else outcome
        if "fetchFiles" in request:
            outcome["files"] = script.fetch(request["fetchFiles"], home)
        return _text(outcome)

    def _load(self, text: str) -> str:
        """Runs the code of a submission as a module for the tests, not as a main program."""
        outcome = self._script.load(_loads(text), "submission")
        self._script.flush()
        return _dumps(outcome)

    def _open(self, text: str) -> str:
        """Starts a session."""
        return _dumps(self._script.load({**_loads(text), "code": ""}, "__main__"))

    def _evaluate(self, text: str) -> str:
        """Runs one input of a session."""
        outcome = self._script.evaluate(_loads(text))
        self._script.flush()
        return _text(outcome)

    def _call(self, target: str, arguments: str) -> str:
        """Calls a function of the submission, or an object that the tests hold (`@number`)."""
        try:
            args, kwargs = given = codec.decode(arguments, self._objects.resolve)
            result = self._find(target)(*args, **kwargs)
            text = self._objects.position(result, args) or codec.encode(result, self._objects.refer)
            answer = "value\n" + text
            # Arguments that the call changed go back. Text of scalars alone cannot have changed.
            if arguments.find("[", 2) > 0 or "{" in arguments:
                after = codec.encode(given, self._objects.refer)
                if after != arguments:
                    answer += "\n" + after
            return answer
        except codec.NotPlain as error:
            return "unplain\n" + _dumps(str(error))
        except StopIteration as error:
            return self._ended(error) if target[0] == "@" else self._raised(error)
        except BaseException as error:
            return self._raised(error)

    def _guarded(self, act: Callable[[], Any]) -> str:
        """Returns the text of the value that `act` returns, or of the exception that it raises."""
        try:
            return "value\n" + codec.encode(act(), self._objects.refer)
        except codec.NotPlain as error:
            return "unplain\n" + _dumps(str(error))
        except BaseException as error:
            return self._raised(error)

    def _attribute(self, target: str, name: str) -> str:
        """Reads an attribute of an object that the tests hold, or of a function or class of the submission."""
        return self._guarded(lambda: getattr(self._find(target), name))

    def _set(self, target: str, name: str, value: str) -> str:
        return self._guarded(lambda: setattr(self._find(target), name, codec.decode(value, self._objects.resolve)))

    def _instance(self, value: str, name: str) -> str:
        """Whether an object is an instance of a class of the submission."""
        return self._guarded(lambda: isinstance(codec.decode(value, self._objects.resolve), self._find(name)))

    def _wait(self, target: str) -> str:
        """Runs a coroutine to its end."""
        import asyncio

        async def run() -> Any:
            return await self._find(target)

        return self._guarded(lambda: asyncio.run(run()))

    def _anext(self, target: str) -> str:
        """Returns the next item of an asynchronous generator. All items use one event loop, whose end closes it."""
        import asyncio

        self._loop = self._loop or asyncio.new_event_loop()

        async def step() -> str:
            try:
                return "value\n" + codec.encode(await self._find(target).__anext__(), self._objects.refer)
            except StopAsyncIteration:
                return "stop\nnull"

        try:
            return self._loop.run_until_complete(step())
        except codec.NotPlain as error:
            return "unplain\n" + _dumps(str(error))
        except BaseException as error:
            return self._raised(error)

    def _pull(self, target: str, count: str) -> str:
        """Returns the next items of an iterator.

        Reading ahead stops after a few milliseconds, or when an answer is full.
        """
        texts: list[str] = []
        length, end = 0, ""
        deadline = time.perf_counter() + _AHEAD_SECONDS
        iterator = self._find(target)
        while len(texts) < int(count) and length < _AHEAD_CHARACTERS and (not texts or time.perf_counter() < deadline):
            try:
                texts.append(codec.encode(next(iterator), self._objects.refer))
                length += len(texts[-1])
            except BaseException as error:
                end = "\n" + self._ended(error)
                break
        return f"items\n[{','.join(texts)}]{end}"

    def _throw(self, target: str, data: str) -> str:
        """Raises an exception of the tests inside a generator."""
        try:
            return "value\n" + codec.encode(self._find(target).throw(_exception(_loads(data))), self._objects.refer)
        except BaseException as error:
            return self._ended(error)

    def _leave(self, target: str, data: str) -> str:
        """Ends a `with` of the tests. Returns whether the exception that was raised there is suppressed."""
        reported = _loads(data)
        error = self._last if reported == "raised" else None if reported is None else _exception(reported)
        manager = self._find(target)
        return self._guarded(
            lambda: bool(type(manager).__exit__(manager, None if error is None else type(error), error, None))
        )

    def _ended(self, error: BaseException) -> str:
        """Returns the text of the end of an iterator or a generator."""
        if isinstance(error, StopIteration):
            return self._guarded(lambda: error.value).replace("value", "stop", 1)
        return "unplain\n" + _dumps(str(error)) if isinstance(error, codec.NotPlain) else self._raised(error)

    def _flush(self) -> str:
        self._script.flush()
        return ""

    def _find(self, target: str) -> Any:
        """Returns the object that a target names: `name` or `@number`, either with `.attribute` after it."""
        name, _, attribute = target.partition(".")
        if name[0] == "@":
            found = self._objects[int(name[1:])]
        else:
            found = self._script.globals.get(name, _MISSING)
            if found is _MISSING:
                raise NameError(f"the submission does not define {name!r}")
        return getattr(found, attribute) if attribute else found

    def _raised(self, error: BaseException) -> str:
        self._last = error
        number = None if type(error).__module__ == "builtins" else self._objects.refer(error)["o"][0]
        return "raised\n" + _dumps(
            {**errors.to_data(error, self._objects.refer, number), "fault": faults.describe(error, self._script.source)}
        )


def _exception(data: dict[str, Any]) -> Any:
    """Makes an exception of the tests, of a built-in class."""
    kind = next((kind for name in data["kinds"] if isinstance(kind := getattr(builtins, name, None), type)), Exception)
    return kind(*codec.decode(data["arguments"]))


def _text(outcome: dict[str, Any]) -> str:
    """Returns the text of an outcome, without a value that would make it too long."""
    text = _dumps(outcome)
    if len(text) > codec.LONGEST:
        text = _dumps({name: value for name, value in outcome.items() if name != "value"})
    return text


def _end() -> None:
    """Ends a program as Python does: waits for threads, then calls the functions registered with `atexit`."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.main_thread():
            thread.join()
    atexit._run_exitfuncs()


_MISSING = object()

_ANSWERS: dict[str, Callable[..., str]] = {
    "run": Runner._run,
    "load": Runner._load,
    "open": Runner._open,
    "evaluate": Runner._evaluate,
    "call": Runner._call,
    "attribute": Runner._attribute,
    "set": Runner._set,
    "instance": Runner._instance,
    "wait": Runner._wait,
    "anext": Runner._anext,
    "pull": Runner._pull,
    "throw": Runner._throw,
    "leave": Runner._leave,
    "flush": Runner._flush,
}
