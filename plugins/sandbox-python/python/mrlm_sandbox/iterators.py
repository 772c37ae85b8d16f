"""Proxies of the submission's iterators. The tests take items one by one, so infinite iterators work."""

import collections
import types
from typing import TYPE_CHECKING, Any, NamedTuple

from . import codec

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
        # Items since the last `restart`, and the actions before them and before the end.
        self._items: list[Any] | None = None
        self._began = -1
        self._ended = 0

    def restart(self) -> None:
        """Begins another iteration of an iterator that returns itself: without items, or with those of the last one."""
        items = self._items if self.was_begun() else None
        self._items, self._began = [], self._remote.actions
        if not self._has_ended():
            return
        first, self._end = self._remote.pull(self._number, 1)
        if first and items is not None:
            first, self._end = items, StopIteration()
        self._ended = self._remote.actions
        self._waiting.extend(first)

    def was_begun(self) -> bool:
        """Whether an iteration over it began since the last action."""
        return self._began == self._remote.actions

    def _has_ended(self) -> bool:
        """Whether it gave its last item, and the tests ran no code of the submission since then."""
        return not self._waiting and isinstance(self._end, StopIteration) and self._ended == self._remote.actions

    def next(self) -> Any:
        """Returns the next item. Raises StopIteration after the last one, and each other exception once."""
        is_over = isinstance(self._end, StopIteration)
        if not self._waiting and (self._end is None or (is_over and not self._has_ended())):
            count = 1 if self._taken < _ONE_BY_ONE else min(self._taken // _AHEAD, _MOST_AHEAD)
            items, self._end = self._remote.pull(self._number, count)
            self._ended = self._remote.actions
            self._waiting.extend(items)
        if self._waiting:
            self._taken += 1
            item = self._waiting.popleft()
            if self._items is not None:
                self._items.append(item)
                if len(self._items) > codec.MOST_ITEMS:
                    self._items = None
            return item
        end = self._end
        assert end is not None
        # An iterator that has ended stays so, whatever the submission answers next.
        if not isinstance(end, StopIteration):
            self._end = None
        raise end


class Step(NamedTuple):
    """Item of an iteration, or the exception in its place."""

    item: Any
    error: BaseException | None


class Iteration:
    """Items of an iterator that an object of the submission gave, kept so that all iterations over it have the same."""

    def __init__(self, found: Any, stream: Stream) -> None:
        self.found = found
        self.cursor = Cursor(self)
        self._stream = stream
        self._steps: list[Step] = []

    def step(self, at: int) -> Step:
        """Returns what came at a position, or takes it if it is the next one."""
        if at == len(self._steps):
            if at == codec.MOST_ITEMS:
                raise TypeError(f"an iteration over an object of the submission has more than {at} items")
            try:
                step = Step(self._stream.next(), None)
            except Exception as error:
                step = Step(None, error)
            self._steps.append(step)
        return self._steps[at]


class Cursor:
    """Iterator over an iteration. It has the attributes and methods of the submission's iterator."""

    __class__ = property(lambda self: self.found.__class__)

    def __init__(self, iteration: Iteration) -> None:
        self.__iteration = iteration
        self.__at = 0

    def __iter__(self) -> "Cursor":
        return self

    def __next__(self) -> Any:
        item, error = self.__iteration.step(self.__at)
        if isinstance(error, StopIteration):
            raise StopIteration(error.value)
        self.__at += 1
        if error is not None:
            raise error
        return item

    @property
    def found(self) -> Any:
        """Iterator of the submission."""
        return self.__iteration.found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.found, name)


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
        self.__remote.forget()
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


def stream_of(found: Any) -> Stream | None:
    """Returns the items of an iterator that stays in the runner; None for other values."""
    if type(found) is RemoteGenerator:
        return found._RemoteGenerator__stream  # type: ignore[attr-defined, no-any-return]
    if hasattr(type(found), "_RemoteObject__items") and hasattr(type(found), "__next__"):
        return found._RemoteObject__items()  # type: ignore[no-any-return]
    return None


def tag(value: RemoteGenerator) -> dict[str, list[int | str]]:
    """Returns the tag of a generator as an argument."""
    return {"o": [value._RemoteGenerator__number, value.__name__]}  # type: ignore[attr-defined]


async def coroutine(remote: "Remote", number: int) -> Any:
    """Runs a coroutine of the submission to its end, in its process, at the first await."""
    return remote.wait(number)
