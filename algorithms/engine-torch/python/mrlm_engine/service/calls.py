"""Numbered calls: each takes effect once, also if it is repeated."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from mrlm_engine.errors import EngineError

Answer = TypeVar("Answer")

# Number of answers kept for retries. A client repeats a call soon after its connection broke, so few are needed, and
# those of passes contain all outputs.
KEPT_ANSWERS = 8


class CallSlot(Generic[Answer]):
    """One running call: `answer` is the answer of an earlier attempt, or is set at its end."""

    def __init__(self, number: int, kind: str, fingerprint: bytes) -> None:
        self.number = number
        self.kind = kind
        self.fingerprint = fingerprint
        self.lock = threading.Lock()
        self.answer: Answer | None = None
        # State that an interrupted call needs to resume.
        self.progress: Any = None


class CallLog:
    """Answers of the latest numbered calls, and the highest applied number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: OrderedDict[int, CallSlot[Any]] = OrderedDict()
        self.last = 0

    @property
    def highest(self) -> int:
        """The highest number that was applied or started.

        A later client continues from it, so that it never resumes a call that another client left incomplete.
        """
        with self._lock:
            return max([self.last, *self._slots])

    @contextmanager
    def call(self, number: int, kind: str, content: bytes) -> Iterator[CallSlot[Any]]:
        """Yields the slot of a call exclusively: a retry waits for the first attempt and then finds its answer.

        A call that fails before it has an answer or progress leaves no slot, so its number may be used again.
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
        """Continues numbers from `last` after Load, and discards answers of the state before it."""
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
                        "Use one client for each engine, and continue from the call that Load or Describe returned.",
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
