"""Numbered calls: each takes effect once, however often it is made."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from mrlm_engine.errors import EngineError

Answer = TypeVar("Answer")

# Answers kept for retries. A client repeats a call right after its connection broke, so few are ever asked for, and
# those of passes hold all outputs.
KEPT_ANSWERS = 8


class CallSlot(Generic[Answer]):
    """One call while it runs: `answer` is what it answered before, or is set when it is done."""

    def __init__(self, number: int, kind: str, fingerprint: bytes) -> None:
        self.number = number
        self.kind = kind
        self.fingerprint = fingerprint
        self.lock = threading.Lock()
        self.answer: Answer | None = None
        # Whatever a call that was interrupted half-way needs to go on.
        self.progress: Any = None


class CallLog:
    """The answers of the latest numbered calls, and the highest number that was applied."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: OrderedDict[int, CallSlot[Any]] = OrderedDict()
        self.last = 0

    @property
    def highest(self) -> int:
        """The highest number that was applied or begun.

        A client that arrives later goes on from there, so that it never takes up a call that another left half done.
        """
        with self._lock:
            return max([self.last, *self._slots])

    @contextmanager
    def call(self, number: int, kind: str, content: bytes) -> Iterator[CallSlot[Any]]:
        """The slot of a call, held alone: a retry waits for the first attempt, then finds its answer.

        A call that fails before it has an answer or progress leaves nothing behind, so its number may be used again.
        """
        fingerprint = hashlib.blake2b(content, digest_size=16).digest()
        if number == 0:
            yield CallSlot(0, kind, fingerprint)
            return
        slot = self._slot(number, kind, fingerprint)
        with slot.lock:
            try:
                yield slot
            finally:
                self._settle(slot)

    def restart(self, last: int) -> None:
        """After Load: numbers go on from `last`, and earlier answers belong to another past."""
        with self._lock:
            self._slots.clear()
            self.last = last

    def _slot(self, number: int, kind: str, fingerprint: bytes) -> CallSlot[Any]:
        with self._lock:
            slot = self._slots.get(number)
            if slot is not None and (slot.kind, slot.fingerprint) != (kind, fingerprint):
                raise EngineError(
                    "CALL_OUT_OF_ORDER",
                    f"Call {number} was a {slot.kind} of other content than this {kind}.",
                    "Raise `call` by one with each new call; repeat a number only with the same request.",
                )
            if slot is None:
                if number <= self.last:
                    raise EngineError(
                        "CALL_OUT_OF_ORDER",
                        f"Call {number} ({kind}) comes after call {self.last}, and its answer is no longer kept.",
                        "Use one client for each engine, and go on from the last call that Load or Describe names.",
                    )
                slot = CallSlot(number, kind, fingerprint)
                self._slots[number] = slot
            return slot

    def _settle(self, slot: CallSlot[Any]) -> None:
        with self._lock:
            if slot.answer is not None:
                slot.progress = None
                self.last = max(self.last, slot.number)
            elif slot.progress is None and self._slots.get(slot.number) is slot:
                del self._slots[slot.number]
            while len(self._slots) > KEPT_ANSWERS:
                self._slots.popitem(last=False)
