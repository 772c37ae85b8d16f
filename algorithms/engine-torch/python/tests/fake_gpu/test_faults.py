"""The engine on the fake GPU: no operands on two devices, and only the copies to the host that are listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fake_gpu import work
from fake_gpu.cases import LEARNING, PLANTED, SAMPLING, learnt, sampled
from fake_gpu.work import GivenCopy


@pytest.fixture(autouse=True)
def _branches() -> Iterator[None]:
    with work.gpu_branches():
        yield


def test_a_step_of_learning_copies_to_the_host_what_is_listed() -> None:
    assert learnt("qwen2") == LEARNING["qwen2"][-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNING)
def test_learning_copies_to_the_host_what_is_listed(name: str) -> None:
    assert learnt(name) == LEARNING[name][-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLING)
def test_sampling_copies_only_the_drawn_tokens(name: str) -> None:
    steps, hosts = sampled(name)
    assert steps >= 8
    assert GivenCopy.made == steps
    assert hosts == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str) -> None:
    assert PLANTED[name]()
