"""The part of Ray's interface that driver.py uses. Actors are objects of this process, and calls are threads.

FAKE_RAY_NODES names machines, each with 4 CPUs; the file FAKE_RAY_DEAD lists those that were lost.
"""

import os
import pathlib
import threading
from collections.abc import Callable
from typing import Any

NAMES = os.environ.get("FAKE_RAY_NODES", "n1").split(",")
DEAD = os.environ.get("FAKE_RAY_DEAD")


class Future:
    """Result of a call."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.done = threading.Event()
        threading.Thread(target=self.run, args=[call], daemon=True).start()

    def run(self, call: Callable[[], Any]) -> None:
        self.value: Any = None
        self.error: Exception | None = None
        try:
            self.value = call()
        except Exception as error:
            self.error = error
        self.done.set()


class Method:
    def __init__(self, actor: "Actor", name: str) -> None:
        self.actor = actor
        self.name = name

    def remote(self, *args: Any) -> Future:
        if self.name == "__ray_call__":
            return Future(lambda: self.actor.node)
        return Future(lambda: getattr(self.actor.instance, self.name)(*args))


class Actor:
    def __init__(self, instance: Any, node: str) -> None:
        self.instance = instance
        self.node = node

    def __getattr__(self, name: str) -> Method:
        return Method(self, name)


class Definition:
    def __init__(self, kind: type, count: list[int]) -> None:
        self.kind = kind
        self.count = count

    def options(self, **_: Any) -> "Definition":
        return self

    def remote(self) -> Actor:
        self.count[0] += 1
        return Actor(self.kind(), NAMES[self.count[0] % len(NAMES)])


def init(**_: Any) -> None:
    pass


def shutdown() -> None:
    pass


def remote(**_: Any) -> Callable[[type], Definition]:
    return lambda kind: Definition(kind, [-1])


def nodes() -> list[dict[str, Any]]:
    dead = pathlib.Path(DEAD).read_text().split() if DEAD and pathlib.Path(DEAD).exists() else []
    return [{"NodeID": name, "NodeName": name, "Alive": name not in dead, "Resources": {"CPU": 4.0}} for name in NAMES]


def get(futures: Any) -> Any:
    if isinstance(futures, list):
        return [get(each) for each in futures]
    futures.done.wait()
    if futures.error is not None:
        raise futures.error
    return futures.value


def wait(futures: list[Future], num_returns: int, timeout: float) -> tuple[list[Future], list[Future]]:
    for each in futures[:num_returns]:
        each.done.wait(timeout)
    return [each for each in futures if each.done.is_set()], [each for each in futures if not each.done.is_set()]


def kill(actor: Actor) -> None:
    """Closes the pipe of the guard, as the end of a real actor does."""
    guard = getattr(actor.instance, "guard", None)
    if guard is not None and not guard.stdin.closed:
        guard.stdin.close()
