"""Seconds of a GPU's work: not of its launch, and without a wait for work that is not done."""

from __future__ import annotations

import pytest
import torch

from mrlm_engine.compute.clock import DeviceTimer


class Stream:
    """A stream whose work takes `seconds`; `done` is the time up to which it has run."""

    def __init__(self) -> None:
        self.launched = self.done = 0.0
        self.waits = 0


STREAM = Stream()


class FakeEvent:
    """Substitute for a CUDA event, on STREAM."""

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing
        self.at = 0.0

    def record(self) -> None:
        self.at = STREAM.launched

    def query(self) -> bool:
        return self.at <= STREAM.done

    def synchronize(self) -> None:
        STREAM.waits += self.at > STREAM.done
        STREAM.done = max(STREAM.done, self.at)

    def elapsed_time(self, end: FakeEvent) -> float:
        return 1000 * (end.at - self.at)


def test_cuda_sections_are_the_time_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    timer = DeviceTimer(torch.device("cuda"))
    for seconds in (2.0, 3.0):
        # Work outside of a section does not count.
        STREAM.launched += 10.0
        with timer.section():
            STREAM.launched += seconds
    assert timer.take() == 0.0
    STREAM.done = 12.0
    assert timer.take() == 2.0
    assert STREAM.waits == 0
    assert timer.take(wait=True) == 3.0
    assert STREAM.waits == 1
    assert timer.take(wait=True) == 0.0


def test_a_section_that_fails_on_a_gpu_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    timer = DeviceTimer(torch.device("cuda"))
    with pytest.raises(MemoryError), timer.section():
        raise MemoryError
    assert timer.take(wait=True) == 0.0


def test_sections_of_a_cpu_add_up() -> None:
    timer = DeviceTimer(torch.device("cpu"))
    for _ in range(2):
        with timer.section():
            torch.ones(100).sum()
    assert timer.take() > 0.0
    assert timer.take() == 0.0
