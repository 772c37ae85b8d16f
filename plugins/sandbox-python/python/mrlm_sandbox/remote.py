"""Requests of the tests to a submission."""

import json
import opcode
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from . import answers, codec, errors, faults, iterators, proxies, raised

_loads = json.JSONDecoder().decode
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_MUTABLE = (list, dict, set, bytearray)
_SHOWN = 300
_MOST_CLASSES = 1000
# Limit of the answers that are kept, in characters. One answer has up to `codec.LONGEST`.
_MOST_KEPT = 8 * codec.LONGEST
_NO_ARGUMENTS = codec.encode([[], {}])
_RAISE = opcode.opmap["RAISE_VARARGS"]


class RunnerEnded(BaseException):
    """Error for a runner that has ended. Each later request raises it again, so that no test can continue."""


class ResultRefused(TypeError):
    """Error for an answer of the submission that is not plain data or is malformed."""


class Remote:
    """Sends requests to the submission's process; keeps the last call and the last exception for verdicts."""

    def __init__(self, ask: Callable[[str], str], entry_points: dict[str, proxies.EntryPoints]) -> None:
        """`entry_points`: proxies of functions and classes of the submission, by their names."""
        self._ask = ask
        self.entry_points = {name: proxies.EntryPoints.of(entry, self) for name, entry in entry_points.items()}
        self._maker: raised.Maker | None = None
        self._objects: dict[int, Any] = {}
        self._classes: dict[tuple[str, frozenset[str]], type] = {}
        self._kept = answers.Answers()
        self._items = answers.Answers()
        # Objects under test, `@number`.
        self._tested: set[str] = set()
        self._iterations: dict[str, iterators.Iteration] = {}
        # Number of messages that may have changed objects.
        self.actions = 0
        self.was_asked = False
        self.ended = False
        # True while a failure is described: proxies then show themselves without a request.
        self.is_quiet = False
        self.begin()

    def begin(self) -> None:
        """Begins a test."""
        self.last: tuple[str, Sequence[Any], dict[str, Any], Any] | None = None
        self.raised: BaseException | None = None
        self.fault: dict[str, Any] = {}

    def call(
        self, target: str, args: Sequence[Any], kwargs: dict[str, Any], stops: bool = False, asks: bool = False
    ) -> Any:
        """Calls `target` in the runner and applies its changes to the arguments.

        `stops`: the call may raise StopIteration. `asks`: it is a question, whose first answer is kept.
        """
        given = [list(args), kwargs]
        message = f"call\n{target}\n{codec.encode(given, proxies.tag)}"
        answer = self._question(message) if asks else self._answer(message)
        return self._returned(answer, target, args, kwargs, stops)

    def construct(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls an entry point. An object that it makes under the name of a class is one under test.

        The submission decides what an entry point is. Only its name, which the tests chose, shows what they expect.
        """
        made = self.call(name, args, kwargs)
        if name.lstrip("_")[:1].isupper() and issubclass(type(made), proxies.RemoteObject):
            self._tested.add(proxies.target(made))
        return made

    def item(self, target: str, key: Any) -> Any:
        given = codec.encode([[key], {}], proxies.tag)
        method = f"{target}.__getitem__"
        answer = self._looked_up(target, f"call\n{method}\n{given}", self._items)
        return self._returned(answer, method, (key,), {})

    def _returned(
        self, answer: list[str], target: str, args: Sequence[Any], kwargs: dict[str, Any], stops: bool = False
    ) -> Any:
        self.last = None
        result = self._result(answer, args, stops)
        if len(answer) > 2:
            self._apply(answer[2], args, kwargs)
        self.last = (target, args, kwargs, result)
        return result

    def _apply(self, text: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        try:
            changed_args, changed_kwargs = codec.decode(text, self._resolver(args))
            pairs = [
                *zip(args, changed_args, strict=False),
                *((kwargs[key], new) for key, new in changed_kwargs.items() if key in kwargs),
            ]
        except (codec.NotPlain, TypeError, ValueError, AttributeError):
            raise ResultRefused("the changed arguments cannot be read") from None
        for old, new in pairs:
            _update(old, new)

    def last_call(self) -> str | None:
        """Describes the last call; None if it raised."""
        if self.last is None:
            return None
        target, args, kwargs, result = self.last
        shown = _cut(", ".join([*map(_shown, args), *(f"{key}={_shown(value)}" for key, value in kwargs.items())]))
        return f"{target}({shown}) returned {_shown(result)}"

    def iteration(self, target: str, name: str, owner: object) -> Any:
        """Returns an iterator over the items of an object. All of them have the items of the first one.

        The object may give another kind of iterator each time. One that is its own iterator, or that gives the same one
        again, continues with it.
        """
        message = f"call\n{target}.{name}\n{_NO_ARGUMENTS}"
        known = self._iterations.get(message)
        # Items that are data are kept with the answer.
        found = self._result(self._question(message) if known is None else self._ask_runner(message))
        if known is not None:
            return known.cursor if found is known.found else iterators.Cursor(known)
        own = iterators.stream_of(owner)
        if own is not None and (found is owner or own.was_begun()):
            own.restart()
            return owner
        stream = iterators.stream_of(found)
        if stream is None:
            return found
        known = self._iterations[message] = iterators.Iteration(found, stream)
        return known.cursor

    def attribute(self, target: str, name: str) -> Any:
        return self._result(self._looked_up(target, f"attribute\n{target}\n{name}", self._kept))

    def set_attribute(self, target: str, name: str, value: Any) -> None:
        self._result(self._answer(f"set\n{target}\n{name}\n{codec.encode(value, proxies.tag)}"))

    def is_instance(self, value: Any, name: str) -> bool:
        return self._result(self._question(f"instance\n{codec.encode(value, proxies.tag)}\n{name}")) is True

    def wait(self, number: int) -> Any:
        """Returns the result of a coroutine."""
        return self._result(self._answer(f"wait\n@{number}"))

    def next_async(self, number: int) -> Any:
        """Returns the next item of an asynchronous generator. Raises StopAsyncIteration after the last one."""
        answer = self._answer(f"anext\n@{number}")
        if answer[0] == "stop":
            raise StopAsyncIteration
        return self._result(answer)

    def pull(self, number: int, count: int) -> tuple[list[Any], BaseException | None]:
        """Returns up to `count` items of an iterator, and the exception that ends it or None."""
        answer = self._ask_runner(f"pull\n@{number}\n{count}")
        if answer[0] != "items":
            return [], _raised_by(lambda: self._result(answer, (), True))
        items = self._decoded(answer, 1)
        if type(items) is not list or len(items) > count:
            raise ResultRefused("the items of an iterator cannot be read")
        return items, _raised_by(lambda: self._result(answer[2:], (), True)) if len(answer) > 2 else None

    def throw(self, number: int, error: BaseException) -> Any:
        return self._result(self._answer(f"throw\n@{number}\n{_dumps(_data_of(error))}"), (), True)

    def leave(self, number: int, error: BaseException | None) -> bool:
        """Ends a `with`.

        The submission can suppress only what a statement `raise` of the tests raised: never a failed check.
        """
        reported = None if error is None else "raised" if error is self.raised else _data_of(error)
        suppresses = self._result(self._answer(f"leave\n@{number}\n{_dumps(reported)}"))
        return suppresses is True and error is not None and _is_raised_on_purpose(error)

    def forget(self) -> None:
        """Forgets all answers: code of the submission that the tests ran may have changed its objects."""
        self._items.clear()
        self._kept.clear()
        self._iterations.clear()

    def act(self) -> None:
        """Notes that objects may change now."""
        self.actions += 1
        self.forget()

    def _answer(self, message: str) -> list[str]:
        self.act()
        return self._ask_runner(message)

    def _question(self, message: str) -> list[str]:
        """Returns the answer to a question about an object: the first one until the next action."""
        answer = self._kept.get(message)
        return self._keep(self._kept, message, self._ask_runner(message)) if answer is None else answer

    def _looked_up(self, target: str, message: str, kept: answers.Answers) -> list[str]:
        """Returns the first answer to the lookup of an item or an attribute. The lookup runs each time all the same.

        A lookup of an object under test may change the answers to other questions, but for items: items that change
        could be whatever each check of a test needs.
        """
        first, answer = kept.get(message), self._ask_runner(message)
        if target in self._tested:
            self._kept.clear()
            self._iterations.clear()
        return self._keep(kept, message, first or answer)

    def _keep(self, kept: answers.Answers, message: str, answer: list[str]) -> list[str]:
        if kept.get(message) is None:
            kept.keep(message, answer)
        if self._kept.size + self._items.size > _MOST_KEPT:
            raise ResultRefused("the answers about objects of the submission are too long")
        return answer

    def _ask_runner(self, message: str) -> list[str]:
        if self.ended:
            raise RunnerEnded
        self.was_asked = True
        try:
            return self._ask(message).split("\n")
        except RunnerEnded:
            self.ended = True
            raise

    def _result(self, answer: list[str], args: Sequence[Any] = (), stops: bool = False) -> Any:
        kind = answer[0] if len(answer) > 1 else ""
        if kind == "value":
            return self._decoded(answer, 1, args)
        if kind == "raised":
            self._raise(answer[1])
        if kind == "unplain":
            raise ResultRefused(_read_text(answer[1])[:_SHOWN])
        if kind == "stop" and stops:
            raise StopIteration(self._decoded(answer, 1))
        raise ResultRefused("the answer is of an unknown kind")

    def _decoded(self, answer: list[str], line: int, args: Sequence[Any] = ()) -> Any:
        try:
            return codec.decode(answer[line], self._resolver(args))
        except codec.NotPlain as error:
            raise ResultRefused(str(error)) from None

    def _resolver(self, args: Sequence[Any]) -> codec.Resolve:
        def resolve(kind: str, payload: Any) -> Any:
            if kind == "a":
                if type(payload) is not int or not 0 <= payload < len(args):
                    raise codec.NotPlain("not the text of a value: an argument")
                return args[payload]
            return self._object(kind, *payload)

        return resolve

    def _object(self, kind: str, number: Any, name: Any, names: Any = ()) -> Any:
        """Returns the proxy of an object: the same one for the same number."""
        if type(number) is not int or type(name) is not str or kind not in "ogwy":
            raise codec.NotPlain("not the text of a value: an object")
        if kind == "w":
            return iterators.coroutine(self, number)
        if kind == "y":
            return iterators.RemoteAsyncGenerator(self, number)
        if number not in self._objects:
            self._objects[number] = (
                iterators.RemoteGenerator(self, number, name) if kind == "g" else self._class(name, names)(self, number)
            )
        return self._objects[number]

    def _class(self, name: str, names: Any) -> Any:
        key = (name, frozenset(name for name in names if type(name) is str))
        if key not in self._classes:
            if len(self._classes) == _MOST_CLASSES:
                raise codec.NotPlain(f"the tests hold objects of more than {_MOST_CLASSES} classes")
            self._classes[key] = proxies.class_of(*key)
        return self._classes[key]

    def _raise(self, text: str) -> NoReturn:
        try:
            data = _loads(text)
            fault = {key: data["fault"][key] for key in ("name", "message", "trace", "line") if key in data["fault"]}
            fault.update((key, fault[key][:longest]) for key, longest in faults.LONGEST.items())
            if (
                not all(type(fault[key]) is str for key in ("name", "message", "trace"))
                or type(fault.get("line", 0)) is not int
            ):
                raise ValueError("a fault")
            self._maker = self._maker or raised.Maker(
                self._resolver(()), lambda number, name: self.attribute(f"@{number}", name), self.entry_points
            )
            error = self._maker.make(data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError, raised.Unreadable):
            raise ResultRefused("the raised exception cannot be read") from None
        self.fault = fault
        self.raised = error
        raise error


def _raised_by(act: Callable[[], object]) -> BaseException:
    try:
        act()
    except (RunnerEnded, KeyboardInterrupt):
        raise
    except BaseException as error:
        return error
    return ResultRefused("the end of an iterator cannot be read")


def _data_of(error: BaseException) -> dict[str, Any]:
    """Describes an exception of the tests. The message of an assertion is left out: it may have the expected value."""
    return errors.to_data(error if not isinstance(error, AssertionError) else AssertionError(), None, None, 0)


def _is_raised_on_purpose(error: BaseException) -> bool:
    """Whether a statement `raise` of the tests raised it, and not a failed check."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or isinstance(error, AssertionError):
        return False
    code = traceback.tb_frame.f_code
    return code.co_filename.startswith(("<test", "<harness")) and code.co_code[traceback.tb_lasti] == _RAISE


def _read_text(line: str) -> str:
    try:
        return str(_loads(line))
    except (ValueError, RecursionError, MemoryError):
        return "the answer cannot be read"


def _update(old: Any, new: Any) -> None:
    """Applies to `old`, an argument of the tests, the changes that the submission made to its copy."""
    kind = type(old)
    if kind is not type(new):
        return
    if kind is list:
        old[:] = [_kept(was, now) for was, now in zip(old, new, strict=False)] + new[len(old) :]
    elif kind is dict:
        merged = {key: _kept(old[key], now) if key in old else now for key, now in new.items()}
        old.clear()
        old.update(merged)
    elif kind is set:
        old.clear()
        old.update(new)
    elif kind is bytearray:
        old[:] = new
    elif kind is tuple and len(old) == len(new):
        for was, now in zip(old, new, strict=True):
            _update(was, now)


def _kept(was: Any, now: Any) -> Any:
    """Updates an inner container in place: the tests may hold it under another name."""
    if type(was) is type(now) and type(was) in _MUTABLE:
        _update(was, now)
        return was
    return now


def _shown(value: object) -> str:
    try:
        return _cut(repr(value))
    except Exception:  # Integers too long for decimal.
        return type(value).__name__


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
