"""Proxies of the submission's functions, classes and objects in the interpreter of the tests."""

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import codec, iterators, specials

if TYPE_CHECKING:
    from .remote import Remote


class EntryPoints(type):
    """
    Metaclass of the proxies of functions and classes that tests use by name.

    Each proxy is a class, so that `except` and `isinstance` accept it; calling it calls the entry point. Making a class
    takes longer than a suite of tests, so one proxy serves all submissions, one after the other.
    """

    if TYPE_CHECKING:
        __remote__: Remote

    def __new__(cls, name: str) -> "EntryPoints":
        return super().__new__(cls, name, (BaseException,), {"__remote__": None, "__module__": "submission"})

    def __init__(cls, name: str) -> None:
        super().__init__(name, (BaseException,), {})

    def of(cls, remote: "Remote") -> "EntryPoints":
        """Makes it the proxy of an entry point of another submission."""
        type.__setattr__(cls, "__remote__", remote)
        return cls

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.__remote__.construct(cls.__name__, args, kwargs)

    def __getattribute__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            return super().__getattribute__(name)
        return cls.__remote__.attribute(cls.__name__, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls.__remote__.set_attribute(cls.__name__, _public(name), value)

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, BaseException):
            return type.__instancecheck__(cls, value)
        if issubclass(type(value), RemoteObject):
            return cls.__remote__.is_instance(value, cls.__name__)
        return type(value).__name__ == cls.__name__ and issubclass(type(value), tuple) and hasattr(value, "_fields")

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.__remote__.iteration(cls.__name__, "__iter__", cls))

    def __getitem__(cls, key: Any) -> Any:
        return cls.__remote__.item(cls.__name__, key)

    def __repr__(cls) -> str:
        return f"<{cls.__name__} of the submission>"


class RemoteObject:
    """
    Proxy of an object of the submission, with the special methods that the object's class defines.

    A method returns data, or another proxy. Comparisons and operators work between objects of the submission only: the
    submission must not decide how its object compares with a value of the tests. A question about an object has one
    answer until the tests run code of the submission that may change it.
    """

    __slots__ = ("__number", "__remote", "__stream")

    if TYPE_CHECKING:
        __number: int
        __remote: Remote
        __stream: Any

    def __init__(self, remote: "Remote", number: int) -> None:
        for name, value in (("remote", remote), ("number", number), ("stream", None)):
            object.__setattr__(self, f"_RemoteObject__{name}", value)

    def __getattr__(self, name: str) -> Any:
        return self.__remote.attribute(f"@{self.__number}", name if name == "__dict__" else _public(name))

    def __setattr__(self, name: str, value: Any) -> None:
        self.__remote.set_attribute(f"@{self.__number}", _public(name), value)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return self.__number

    def __repr__(self) -> str:
        return f"<an object of the submission's class {type(self).__name__}>"

    def __contains__(self, item: object) -> bool:
        if not hasattr(type(self), "__iter__") and not hasattr(type(self), "__getitem__"):
            raise TypeError(
                f"an object of the submission's class {type(self).__name__} cannot be iterated over, and its "
                "__contains__ is not called: the submission would receive the expected value"
            )
        return any(found is item or found == item for found in iter(self))

    def __special(self, name: str, *args: Any) -> Any:
        return self.__remote.call(f"@{self.__number}.{name}", args, {}, asks=name not in specials.ACTIONS)

    def __item(self, key: Any) -> Any:
        return self.__remote.item(f"@{self.__number}", key)

    def __iterated(self, name: str) -> Any:
        return self.__remote.iteration(f"@{self.__number}", name, self)

    def __shown(self, name: str) -> Any:
        return object.__repr__(self) if self.__remote.is_quiet else self.__special(name)

    def __next(self) -> Any:
        self.__remote.forget()
        return self.__items().next()

    def __items(self) -> "iterators.Stream":
        """Returns the items of an object that is an iterator."""
        if self.__stream is None:
            object.__setattr__(self, "_RemoteObject__stream", iterators.Stream(self.__remote, self.__number))
        stream: iterators.Stream = self.__stream
        return stream

    def __exit(self, _kind: object, error: BaseException | None, _traceback: object) -> bool:
        return self.__remote.leave(self.__number, error)

    def __tag(self) -> dict[str, Any]:
        return {"o": [self.__number, type(self).__name__]}


def class_of(name: str, names: Iterable[str]) -> type:
    """Makes the class of proxies for objects of a class with these special methods."""
    namespace: dict[str, Any] = {"__slots__": (), "__module__": "submission"}
    for each in names:
        if each in specials.PAIRED:
            namespace[each] = _paired(each)
        elif each in specials.ITERATIONS:
            namespace[each] = _iterated(each)
        elif each == "__int__" and "__index__" in names:
            # Python requires that both are equal.
            namespace[each] = lambda self: operator.index(self)
        elif each == "__getitem__":
            namespace[each] = RemoteObject._RemoteObject__item  # type: ignore[attr-defined]
        elif each in specials.ALONE:
            namespace[each] = _alone(each)
        elif each == specials.NEXT:
            namespace[each] = RemoteObject._RemoteObject__next  # type: ignore[attr-defined]
        elif each == specials.EXIT:
            namespace[each] = RemoteObject._RemoteObject__exit  # type: ignore[attr-defined]
    if specials.UNHASHABLE in names:
        namespace["__hash__"] = None
    elif "__eq__" in namespace:
        namespace.setdefault("__hash__", RemoteObject.__hash__)
    return type(name if name.isidentifier() and name.isprintable() else "Object", (RemoteObject,), namespace)


def _alone(name: str) -> Callable[..., Any]:
    if name in ("__repr__", "__str__"):
        return lambda self: self._RemoteObject__shown(name)
    if name == "__call__":
        return lambda self, *args, **kwargs: self._RemoteObject__remote.call(
            f"@{self._RemoteObject__number}", args, kwargs
        )
    return lambda self, *args: self._RemoteObject__special(name, *args)


def _iterated(name: str) -> Callable[..., Any]:
    return lambda self: self._RemoteObject__iterated(name)


def _paired(name: str) -> Callable[..., Any]:
    return lambda self, other, *more: (
        self._RemoteObject__special(name, other)
        if issubclass(type(other), RemoteObject) and not more
        else NotImplemented
    )


def target(value: Any) -> str:
    """Returns the name of an object in messages."""
    return f"@{value._RemoteObject__number}"


def tag(value: Any) -> dict[str, Any]:
    """Returns the tag of an argument that is not plain data. Raises NotPlain."""
    kind = type(value)
    if issubclass(kind, RemoteObject):
        found: dict[str, Any] = value._RemoteObject__tag()
        return found
    if kind is iterators.RemoteGenerator:
        return iterators.tag(value)
    if kind is iterators.Cursor:
        return tag(value.found)
    if kind is EntryPoints:
        return {"p": value.__name__}
    raise codec.NotPlain(f"the tests passed an instance of {kind.__name__}, and only plain data reaches a submission")


def _public(name: str) -> str:
    """Refuses names like `__array__`, which Python itself looks up: the submission must not answer those."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return name
