"""Rebuilds exceptions of a submission in the interpreter of the tests, from plain data and classes that exist there."""

import binascii
import builtins
import csv
import dataclasses
import decimal
import json
import queue
import re
import statistics
import struct
import zlib
from collections.abc import Callable
from typing import Any

from . import codec, errors, faults
from .proxies import EntryPoints

# Maximum number of classes made for one suite.
_MOST_CLASSES = 1000

_BUILT_IN = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
_PLAIN = frozenset(_BUILT_IN.values())
_LIBRARY = {
    f"{kind.__module__}.{kind.__name__}": kind
    for kind in (
        binascii.Error,
        csv.Error,
        dataclasses.FrozenInstanceError,
        decimal.DivisionByZero,
        decimal.InvalidOperation,
        decimal.Overflow,
        json.JSONDecodeError,
        queue.Empty,
        queue.Full,
        re.error,
        statistics.StatisticsError,
        struct.error,
        zlib.error,
    )
}
_UNICODE = (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError)
_METHODS = frozenset(dir(BaseException))


class Unreadable(Exception):
    """Error for data that does not describe an exception."""


class Maker:
    """Makes the exceptions of one submission."""

    def __init__(
        self, resolve: codec.Resolve, attribute: Callable[[int, str], Any], entry_points: dict[str, EntryPoints]
    ) -> None:
        """`attribute(number, name)` reads an attribute of an object; `entry_points`: proxies by name."""
        self._resolve = resolve
        self._attribute = attribute
        self._entry_points = entry_points
        self._kinds: dict[tuple[str, ...], Any] = {}

    def make(self, data: Any, chain: int = errors.LONGEST_CHAIN) -> BaseException:
        """Makes an exception from data of `errors.to_data`. Raises Unreadable."""
        try:
            return self._made(data, chain)
        except (
            codec.NotPlain,
            ArithmeticError,
            AttributeError,
            KeyError,
            MemoryError,
            RecursionError,
            TypeError,
            ValueError,
        ) as error:
            raise Unreadable(f"what was raised cannot be read: {type(error).__name__}") from None

    def _made(self, data: Any, chain: int) -> BaseException:
        names = [name for name in data["kinds"] if type(name) is str][:200]
        text = data.get("text", "")
        if type(text) is not str:
            raise Unreadable("the message of what was raised is no text")
        kind = self._kind(names)
        arguments = codec.decode(data["arguments"], self._resolve)
        if type(arguments) is not list:
            raise Unreadable("the arguments of what was raised are no list")
        if "members" in data and chain > 0:
            arguments = [
                *arguments[:1],
                [self.make(member, chain // 2) for member in data["members"][: errors.MOST_IN_GROUP]],
            ]
        error = _instance(kind, _clamped(kind, arguments)) or Exception.__new__(
            self._kind([errors.OWN + _bare(names)]), text[: faults.LONGEST["message"]]
        )
        self._set(error, data, text)
        if chain > 0:
            error.__cause__ = self.make(data["__cause__"], chain - 1) if "__cause__" in data else None
            error.__context__ = self.make(data["__context__"], chain // 2) if "__context__" in data else error.__cause__
        return error

    def _set(self, error: BaseException, data: Any, text: str) -> None:
        own = error.__dict__
        if type(error).__str__ is _text:
            own.update(__text__=text, __number__=data.get("number"))
        for name, value in dict.items(data.get("attributes", {})):
            decoded = codec.decode(value, self._resolve)
            if name in errors.FIELDS and isinstance(error, (ImportError, NameError, AttributeError, OSError)):
                if decoded is None or type(decoded) in (str, bytes, int):
                    setattr(error, name, decoded)
            elif name == "__notes__":
                if type(decoded) is list and all(type(note) is str for note in decoded):
                    own[name] = decoded
            elif name not in _METHODS and not name.startswith("__"):
                own[name] = decoded

    def _kind(self, names: list[str]) -> Any:
        """Returns the built-in class.

        For a class of the submission, returns a subclass of the classes that it extends.
        """
        first = names[0] if names else "Exception"
        known = _BUILT_IN.get(first) or _LIBRARY.get(first)
        if known is not None and not issubclass(known, StopIteration | StopAsyncIteration):
            return known
        key = tuple(names)
        if key not in self._kinds:
            if len(self._kinds) == _MOST_CLASSES:
                raise Unreadable("it raised instances of too many classes")
            self._kinds[key] = self._extended(names)
        return self._kinds[key]

    def _extended(self, names: list[str]) -> Any:
        known = [kind for name in names if (kind := _BUILT_IN.get(name) or _LIBRARY.get(name))]
        if any(issubclass(kind, StopIteration | StopAsyncIteration) for kind in known):
            # StopIteration would silently end a loop of the tests (PEP 479).
            return RuntimeError
        leaves = [
            kind for at, kind in enumerate(known) if not any(issubclass(other, kind) for other in known[:at])
        ] or [Exception]
        tested: list[Any] = [
            self._entry_points[name.removeprefix(errors.OWN)]
            for name in names
            if name.startswith(errors.OWN) and name.removeprefix(errors.OWN) in self._entry_points
        ]
        namespace = {"__str__": _text, "__getattr__": self._missing, "__module__": "submission"}
        bases: tuple[Any, ...]
        for bases in ((*tested, *leaves), (*tested, leaves[0])):
            try:
                return type.__new__(type(tested[0]) if tested else type, _bare(names), bases, namespace)
            except TypeError:
                continue  # Built-in classes whose instances have different layouts.
        return leaves[0]

    @property
    def _missing(self) -> Callable[[BaseException, str], Any]:
        attribute = self._attribute

        def missing(error: BaseException, name: str) -> Any:
            number = error.__dict__.get("__number__")
            if type(number) is not int or name.startswith("__"):
                raise AttributeError(name)
            return attribute(number, name)

        return missing


def _text(error: BaseException) -> Any:
    return error.__dict__["__text__"]


def _bare(names: list[str]) -> str:
    """Returns a name for a class, from the name that the submission gave."""
    name = names[0].rpartition(":")[2].rpartition(".")[2] if names else ""
    return name if name.isidentifier() and name.isprintable() else "Exception"


def _instance(kind: Any, arguments: list[Any]) -> BaseException | None:
    """Makes an instance; None if the class takes other arguments."""
    bases = [base for base in kind.__mro__ if base in _PLAIN]
    # Do not run the initializer of a library's class, which takes other arguments.
    starting = [kind] if kind in _PLAIN else [base for base in kind.__bases__ if base in _PLAIN] or bases[:1]
    try:
        error: BaseException = bases[0].__new__(kind, *arguments)
        for base in starting:
            base.__init__(error, *arguments)
        return error
    except Exception:  # Arguments of other types.
        return None


def _clamped(kind: Any, arguments: list[Any]) -> list[Any]:
    """Limits the positions of a UnicodeError to its object: CPython before 3.12 reads memory at any position."""
    if not issubclass(kind, _UNICODE) or len(arguments) < 4:
        return arguments
    at = 1 if issubclass(kind, UnicodeTranslateError) else 2
    start, end = arguments[at : at + 2]
    if type(start) is not int or type(end) is not int:
        return arguments
    length = len(arguments[at - 1])
    start = min(max(start, 0), max(length - 1, 0))
    return [*arguments[:at], start, min(max(end, start), length), *arguments[at + 2 :]]
