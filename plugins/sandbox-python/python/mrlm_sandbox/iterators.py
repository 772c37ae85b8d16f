"""Proxies of the submission's iterators. The tests take items one by one, so infinite iterators work."""

import collections
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .remote import Remote

# Number of items that are requested one by one. Later items are read ahead, a fraction of the items taken so far,
# because one request costs as much as many items.
_ONE_BY_ONE = 256
_AHEAD = 8
_MOST_AHEAD = 4096


class Stream:
    """Items of one iterator."""

    def __init__(self, remote: "Remote", number: int) -> None:
        self._remote = remote
        self._number = number
        self._taken = 0
        self._waiting: collections.deque[Any] = collections.deque()
        self._end: BaseException | None = None

    def next(self) -> Any:
        """Returns the next item. Raises the exception that ended the iterator, once."""
        if not self._waiting and self._end is None:
            count = 1 if self._taken < _ONE_BY_ONE else min(self._taken // _AHEAD, _MOST_AHEAD)
            items, self._end = self._remote.pull(self._number, count)
            self._waiting.extend(items)
        if self._waiting:
            self._taken += 1
            return self._waiting.popleft()
        end, self._end = self._end, None
        assert end is not None
        raise end


class RemoteGenerator:
    """Proxy of a generator; `isinstance` and `inspect` take it for a generator."""

    __slots__ = ("__name__", "__number", "__remote", "__stream")
    __class__ = property(lambda self: types.GeneratorType)

    def __init__(self, remote: "Remote", number: int, name: str) -> None:
        self.__remote = remote
        self.__number = number
        self.__stream = Stream(remote, number)
        self.__name__ = name

    def __iter__(self) -> "RemoteGenerator":
        return self

    def __next__(self) -> Any:
        return self.__stream.next()

    def send(self, value: Any) -> Any:
        return self.__remote.call(f"@{self.__number}.send", (value,), {}, stops=True)

    def throw(self, kind: Any, value: Any = None, _traceback: object = None) -> Any:
        error = (
            kind
            if isinstance(kind, BaseException)
            else value
            if isinstance(value, BaseException)
            else kind()
            if value is None
            else kind(value)
        )
        return self.__remote.throw(self.__number, error)

    def close(self) -> None:
        self.__remote.call(f"@{self.__number}.close", (), {})

    def __repr__(self) -> str:
        return f"<generator object {self.__name__} of the submission>"


class RemoteAsyncGenerator:
    """Proxy of an asynchronous generator: the submission's process awaits each item."""

    __slots__ = ("__number", "__remote")

    def __init__(self, remote: "Remote", number: int) -> None:
        self.__remote = remote
        self.__number = number

    def __aiter__(self) -> "RemoteAsyncGenerator":
        return self

    async def __anext__(self) -> Any:
        return self.__remote.next_async(self.__number)


def tag(value: RemoteGenerator) -> dict[str, list[int | str]]:
    """Returns the tag of a generator as an argument."""
    return {"o": [value._RemoteGenerator__number, value.__name__]}  # type: ignore[attr-defined]


async def coroutine(remote: "Remote", number: int) -> Any:
    """Runs a coroutine of the submission to its end, in its process, at the first await."""
    return remote.wait(number)
