"""What stands for the submission's functions, classes and objects where the tests run."""

import builtins
import json

from . import codec, faults

_loads = json.JSONDecoder().decode
_MUTABLE = (list, dict, set, bytearray)
_SHOWN = 300


class PlayerEnded(BaseException):
    """The submission is gone: by a limit, or because it ended itself. No test can catch it for long."""


class ResultRefused(TypeError):
    """What the submission returned is not plain data."""


class Remote:
    """The far side: asks, and remembers what a verdict needs to say."""

    def __init__(self, ask):
        self._ask = ask
        self._kinds = {}
        self.was_asked = False
        self.ended = False
        self.begin()

    def begin(self):
        """A test begins."""
        self.last = self.raised = self.fault = None

    def call(self, target, args, kwargs):
        """Calls `target` over there, and applies to the arguments what it changed in them."""
        given = [list(args), kwargs]
        answer = self._answer(f"call\n{target}\n{codec.encode(given, _tag)}")
        self.last = None
        result = self._result(answer, args)
        if len(answer) > 2:
            changed_args, changed_kwargs = codec.decode(answer[2], self._resolver(args))
            for old, new in [*zip(args, changed_args), *((kwargs[key], new) for key, new in changed_kwargs.items() if key in kwargs)]:
                _update(old, new)
        self.last = (target, args, kwargs, result)
        return result

    def last_call(self):
        """The last call that returned, for people; None if it raised."""
        if self.last is None:
            return None
        target, args, kwargs, result = self.last
        shown = _cut(", ".join([*map(_shown, args), *(f"{key}={_shown(value)}" for key, value in kwargs.items())]))
        return f"{target}({shown}) returned {_shown(result)}"

    def attribute(self, target, name):
        return self._result(self._answer(f"attribute\n{target}\n{name}"), ())

    def _answer(self, message):
        if self.ended:
            raise PlayerEnded
        self.was_asked = True
        try:
            return self._ask(message).split("\n")
        except PlayerEnded:
            self.ended = True
            raise

    def _result(self, answer, args):
        kind = answer[0]
        if kind == "value":
            try:
                return codec.decode(answer[1], self._resolver(args))
            except codec.NotPlain as error:
                raise ResultRefused(str(error)) from None
        if kind == "raised":
            self._raise(answer[1])
        if kind == "unplain":
            raise ResultRefused(str(_loads(answer[1]))[:_SHOWN])
        raise ResultRefused("the answer is of no known kind")

    def _resolver(self, args):
        def resolve(kind, payload):
            if kind == "a":
                return args[payload]
            number, name = payload
            if type(number) is not int or type(name) is not str:
                raise codec.NotPlain("not the text of a value: an object")
            return RemoteObject(self, number, name)

        return resolve

    def _raise(self, text):
        try:
            told = _loads(text)
            kinds = [kind for kind in told["kinds"] if type(kind) is str]
            fault = {key: told["fault"][key] for key in ("name", "message", "trace", "line") if key in told["fault"]}
            fault.update((key, fault[key][:longest]) for key, longest in faults.LONGEST.items())
            arguments = codec.decode(told["arguments"])
            assert all(type(fault[key]) is str for key in ("name", "message", "trace")) and type(fault.get("line", 0)) is int
        except (codec.NotPlain, ValueError, TypeError, KeyError, AssertionError):
            raise ResultRefused("what was raised cannot be read") from None
        self.fault = fault
        self.raised = self._exception(kinds, arguments, fault["message"])
        raise self.raised

    def _exception(self, kinds, arguments, message):
        """An instance of the built-in class among `kinds`; a class of the submission's own becomes a subclass of it, by its name."""
        if "StopIteration" in kinds or "StopAsyncIteration" in kinds:
            # It would end a loop of the tests in silence (as in PEP 479).
            return RuntimeError(f"the submission raised {kinds[0]}")
        base = next((kind for name in kinds if (kind := getattr(builtins, name, None)) and isinstance(kind, type) and issubclass(kind, BaseException)), Exception)
        kind = base if not kinds or kinds[0] == base.__name__ else self._kinds.setdefault((kinds[0], base), type(kinds[0], (base,), {}))
        try:
            return kind(*arguments)
        except Exception:  # noqa: BLE001 - some take arguments of certain types only.
            return type(base.__name__, (Exception,), {})(message)


class EntryPoint:
    """A function or class of the submission."""

    __slots__ = ("_remote", "__name__")

    def __init__(self, remote, name):
        self._remote = remote
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self._remote.call(self.__name__, args, kwargs)

    def __getattr__(self, name):
        return self._remote.attribute(self.__name__, _public(name))

    def __repr__(self):
        return f"<{self.__name__} of the submission>"


class RemoteObject:
    """
    An object of the submission. What its methods return is data, or another such object. How it compares is not the submission's to say: it equals
    nothing but itself, and has no order.
    """

    __slots__ = ("_remote", "_number", "_kind")

    def __init__(self, remote, number, kind):
        self._remote = remote
        self._number = number
        self._kind = kind

    def __getattr__(self, name):
        return self._remote.attribute(f"@{self._number}", _public(name))

    def __call__(self, *args, **kwargs):
        return self._remote.call(f"@{self._number}", args, kwargs)

    def __eq__(self, other):
        return type(other) is RemoteObject and other._remote is self._remote and other._number == self._number

    def __hash__(self):
        return self._number

    def __repr__(self):
        return f"<an object of the submission's class {self._kind}>"

    def __str__(self):
        return self._special("__str__")

    def __len__(self):
        return self._special("__len__")

    def __iter__(self):
        return iter(self._special("__iter__"))

    def __getitem__(self, key):
        return self._special("__getitem__", key)

    def __setitem__(self, key, value):
        self._special("__setitem__", key, value)

    def __contains__(self, item):
        raise TypeError(f"whether an object of the submission's class {self._kind} contains something is for the tests to find out, by iterating over it")

    def __add__(self, other):
        return self._with("__add__", other)

    def __sub__(self, other):
        return self._with("__sub__", other)

    def __mul__(self, other):
        return self._with("__mul__", other)

    def _with(self, name, other):
        """
        Only among the submission's own objects: with a value of the tests, `abs(f(x) - expected) < 1e-6` would tell the submission what is
        expected, and be true if it liked.
        """
        return self._special(name, other) if type(other) is RemoteObject else NotImplemented

    def _special(self, name, *args):
        return self._remote.call(f"@{self._number}.{name}", args, {})


def _tag(value):
    """The tag of an argument that is not plain data."""
    if type(value) is RemoteObject:
        return {"o": [value._number, value._kind]}
    raise codec.NotPlain(f"the tests passed an instance of {type(value).__name__}, and only plain data reaches a submission")


def _public(name):
    """Python itself asks for names like `__array__`; the submission is not to answer those."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return name


def _update(old, new):
    """Makes `old`, an argument of the tests, what the submission has made of its copy."""
    kind = type(old)
    if kind is not type(new):
        return
    if kind is list:
        old[:] = [_kept(was, now) for was, now in zip(old, new)] + new[len(old) :]
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
        for was, now in zip(old, new):
            _update(was, now)


def _kept(was, now):
    """An inner container stays the object that it was: the tests may hold it by another name."""
    if type(was) is type(now) and type(was) in _MUTABLE:
        _update(was, now)
        return was
    return now


def _shown(value):
    try:
        return _cut(repr(value))
    except Exception:  # noqa: BLE001 - integers too long for decimal.
        return type(value).__name__


def _cut(text):
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
