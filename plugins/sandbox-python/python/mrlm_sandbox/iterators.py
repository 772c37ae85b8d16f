"""Iterators of the submission, which stay there: the tests take one item after the other, so that one without an end can be used, and what it does happens when it is asked for."""

import collections
import types

# Items that are asked for one by one. Later ones are read ahead: a fraction of those taken so far, since each question costs as much as many items.
_ONE_BY_ONE = 256
_AHEAD = 8
_MOST_AHEAD = 4096


class Stream:
    """The items of one iterator."""

    def __init__(self, remote, number):
        self._remote = remote
        self._number = number
        self._taken = 0
        self._waiting = collections.deque()
        self._end = None

    def next(self):
        if not self._waiting and self._end is None:
            count = 1 if self._taken < _ONE_BY_ONE else min(self._taken // _AHEAD, _MOST_AHEAD)
            items, self._end = self._remote.pull(self._number, count)
            self._waiting.extend(items)
        if self._waiting:
            self._taken += 1
            return self._waiting.popleft()
        end, self._end = self._end, None
        raise end


class RemoteGenerator:
    """A generator of the submission; for `isinstance` and `inspect` it is one."""

    __slots__ = ("__name__", "__number", "__remote", "__stream")
    __class__ = property(lambda self: types.GeneratorType)

    def __init__(self, remote, number, name):
        self.__remote = remote
        self.__number = number
        self.__stream = Stream(remote, number)
        self.__name__ = name

    def __iter__(self):
        return self

    def __next__(self):
        return self.__stream.next()

    def send(self, value):
        return self.__remote.call(f"@{self.__number}.send", (value,), {}, stops=True)

    def throw(self, kind, value=None, _traceback=None):
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

    def close(self):
        self.__remote.call(f"@{self.__number}.close", (), {})

    def __repr__(self):
        return f"<generator object {self.__name__} of the submission>"


class RemoteAsyncGenerator:
    """An asynchronous generator of the submission: each item is waited for there."""

    __slots__ = ("__number", "__remote")

    def __init__(self, remote, number):
        self.__remote = remote
        self.__number = number

    def __aiter__(self):
        return self

    async def __anext__(self):
        return self.__remote.next_async(self.__number)


def tag(value):
    """The tag of a generator as an argument."""
    return {"o": [value._RemoteGenerator__number, value.__name__]}


async def coroutine(remote, number):
    """A coroutine of the submission: it runs there to its end, when it is first awaited."""
    return remote.wait(number)
