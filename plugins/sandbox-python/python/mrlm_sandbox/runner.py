"""Runs one submission: its top-level code, then what is asked of it.

All of this is within the submission's reach, so nothing is decided here: what an answer says is taken for what the submission says.
A message is lines of text, of which the first names its kind; the others are JSON, texts of `codec`, or names.
"""

import atexit
import builtins
import json
import threading
import time

from . import codec, errors, faults
from .objects import Objects
from .script import Script

_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_loads = json.JSONDecoder().decode
# Of items that are read ahead.
_AHEAD_SECONDS = 0.005
_AHEAD_CHARACTERS = 1 << 20


class Runner:
    """The interpreter of one submission or one session."""

    def __init__(self):
        self._script = Script()
        self._objects = Objects(lambda: self._script.globals)
        self._last = None
        self._loop = None

    def handle(self, message):
        """The answer to a message."""
        kind, *lines = message.split("\n")
        return _ANSWERS[kind](self, *lines)

    def _run(self, request):
        """A whole program: its code, perhaps a call, and what Python does at its end."""
        request = _loads(request)
        script = self._script
        outcome = script.load(request, "__main__")
        if outcome == {"verdict": "ok"} and "call" in request:
            outcome = script.call(request)
        end = script.guard(_end)
        script.flush()
        return _told(end if outcome["verdict"] == "ok" and end["verdict"] != "ok" else outcome)

    def _load(self, request):
        """The code of a submission that tests are going to call. What it does as a main program is not for them."""
        outcome = self._script.load(_loads(request), "submission")
        self._script.flush()
        return _dumps(outcome)

    def _open(self, request):
        """The start of a session."""
        return _dumps(self._script.load({**_loads(request), "code": ""}, "__main__"))

    def _evaluate(self, request):
        """One input of a session."""
        outcome = self._script.evaluate(_loads(request))
        self._script.flush()
        return _told(outcome)

    def _call(self, target, arguments):
        """A call by the tests of a function of the submission, or of an object that they hold (`@number`)."""
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
        except BaseException as error:  # noqa: BLE001
            return self._raised(error)

    def _guarded(self, act):
        """The text of what `act` returns, or of what it raises."""
        try:
            return "value\n" + codec.encode(act(), self._objects.refer)
        except codec.NotPlain as error:
            return "unplain\n" + _dumps(str(error))
        except BaseException as error:  # noqa: BLE001
            return self._raised(error)

    def _attribute(self, target, name):
        """An attribute of an object that the tests hold, or of a function or class of the submission."""
        return self._guarded(lambda: getattr(self._find(target), name))

    def _set(self, target, name, value):
        return self._guarded(lambda: setattr(self._find(target), name, codec.decode(value, self._objects.resolve)))

    def _instance(self, value, name):
        """Whether an object is an instance of a class of the submission."""
        return self._guarded(lambda: isinstance(codec.decode(value, self._objects.resolve), self._find(name)))

    def _wait(self, target):
        """The result of a coroutine."""
        import asyncio

        async def run():
            return await self._find(target)

        return self._guarded(lambda: asyncio.run(run()))

    def _anext(self, target):
        """The next item of an asynchronous generator. It lives in one event loop from its first item to its last: the end of a loop closes it."""
        import asyncio

        self._loop = self._loop or asyncio.new_event_loop()

        async def step():
            try:
                return "value\n" + codec.encode(await self._find(target).__anext__(), self._objects.refer)
            except StopAsyncIteration:
                return "stop\nnull"

        try:
            return self._loop.run_until_complete(step())
        except codec.NotPlain as error:
            return "unplain\n" + _dumps(str(error))
        except BaseException as error:  # noqa: BLE001
            return self._raised(error)

    def _pull(self, target, count):
        """The next items of an iterator. Those that are read ahead are no more than take a few milliseconds, and fit into an answer."""
        texts, length, end = [], 0, ""
        deadline = time.perf_counter() + _AHEAD_SECONDS
        iterator = self._find(target)
        while len(texts) < int(count) and length < _AHEAD_CHARACTERS and (not texts or time.perf_counter() < deadline):
            try:
                texts.append(codec.encode(next(iterator), self._objects.refer))
                length += len(texts[-1])
            except BaseException as error:  # noqa: BLE001
                end = "\n" + self._ended(error)
                break
        return f"items\n[{','.join(texts)}]{end}"

    def _throw(self, target, told):
        """Raises an exception of the tests inside a generator."""
        try:
            return "value\n" + codec.encode(self._find(target).throw(_exception(_loads(told))), self._objects.refer)
        except BaseException as error:  # noqa: BLE001
            return self._ended(error)

    def _leave(self, target, told):
        """The end of a `with` of the tests. Whether what they have raised there is suppressed."""
        told = _loads(told)
        error = self._last if told == "raised" else None if told is None else _exception(told)
        manager = self._find(target)
        return self._guarded(
            lambda: bool(type(manager).__exit__(manager, None if error is None else type(error), error, None))
        )

    def _ended(self, error):
        """How an iterator or a generator ends."""
        if isinstance(error, StopIteration):
            return self._guarded(lambda: error.value).replace("value", "stop", 1)
        return "unplain\n" + _dumps(str(error)) if isinstance(error, codec.NotPlain) else self._raised(error)

    def _flush(self):
        self._script.flush()
        return ""

    def _find(self, target):
        """`name`, `@number`, or either of them with `.attribute` behind it."""
        name, _, attribute = target.partition(".")
        if name[0] == "@":
            found = self._objects[int(name[1:])]
        else:
            found = self._script.globals.get(name, _MISSING)
            if found is _MISSING:
                raise NameError(f"the submission does not define {name!r}")
        return getattr(found, attribute) if attribute else found

    def _raised(self, error):
        self._last = error
        number = None if type(error).__module__ == "builtins" else self._objects.refer(error)["o"][0]
        return "raised\n" + _dumps(
            {**errors.to_data(error, self._objects.refer, number), "fault": faults.describe(error, self._script.source)}
        )


def _exception(told):
    """An exception of the tests: of a built-in class."""
    kind = next((kind for name in told["kinds"] if isinstance(kind := getattr(builtins, name, None), type)), Exception)
    return kind(*codec.decode(told["arguments"]))


def _told(outcome):
    """The text of an outcome. A value that makes it too long is only shown."""
    text = _dumps(outcome)
    if len(text) > codec.LONGEST:
        text = _dumps({name: value for name, value in outcome.items() if name != "value"})
    return text


def _end():
    """What Python does at the end of a program: waits for threads, and calls what wants to be."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.main_thread():
            thread.join()
    atexit._run_exitfuncs()


_MISSING = object()

_ANSWERS = {
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
