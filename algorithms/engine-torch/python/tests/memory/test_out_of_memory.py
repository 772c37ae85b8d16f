"""Exhausted memory in real processes: the same step with a smaller budget, or an error with the failed allocation."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from sampling.architectures import FUSED, make
from sampling.calls import add, sample_wave, tokens

from mrlm_engine.compute.out_of_memory import is_out_of_memory
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling import Sampler

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited by RLIMIT_AS")
def test_a_pass_begins_anew_with_smaller_micro_batches(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "exhaust.py")]
    path = os.pathsep.join([str(HERE.parent), str(HERE.parent.parent)])
    log = tmp_path / "stderr"
    with log.open("w") as errors:
        environment = {**os.environ, "PYTHONPATH": path}
        ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
    results = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(results) == 3, log.read_text()
    for found in results[:-1]:
        # As if it had been computed under the lower budget from the beginning: gradients and later outputs, bit by bit.
        assert all([found["retries"] >= 1, found["equal"], found["evaluates"], found["random"]]), found
        assert found["budget"] == found["lowered"] < 1600
    # A unit that is too large is computed some of its sequences at a time, and stays one micro-batch.
    assert all(found["micro_batches"] == 1 for found in results if found["kind"] == "group")
    lone = results[-1]
    assert lone["code"] == "OUT_OF_MEMORY"
    assert "one sequence of 1599 tokens" in lone["message"]


def test_what_says_that_memory_ran_out() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 58, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."))
    assert is_out_of_memory(RuntimeError("CUDA error: out of memory"))
    assert not is_out_of_memory(RuntimeError("The size of tensor a (3) must match the size of tensor b (4)"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_sampling_that_runs_out_of_memory_is_told_and_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler(make({**FUSED["qwen2"], "max_position_embeddings": 2048}), True)
    adds = [add(i, [5, 6, 7 + i]) for i in range(4)]
    expected = {number: tokens(finish) for number, finish in sample_wave(sampler, adds).items()}
    allocate, calls = torch.zeros, itertools.count()

    def refuse(*arguments: Any, **fields: Any) -> torch.Tensor:
        # The cache of the second layer, when that of the first has grown.
        if next(calls) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return allocate(*arguments, **fields)

    monkeypatch.setattr("mrlm_engine.llama.kv_cache.torch.zeros", refuse)
    found = sample_wave(sampler, [add(9, list(range(2, 40)) * 4)])[9]
    monkeypatch.undo()
    assert (found.reason, found.error_code) == (pb.STOP_REASON_ERROR, "OUT_OF_MEMORY")
    assert "sampling.concurrency" in found.error_message
    assert {number: tokens(finish) for number, finish in sample_wave(sampler, adds).items()} == expected
    sampler.close()
