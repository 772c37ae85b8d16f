"""A mesh behind the launcher and the wire, and one sequence of 131,072 tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from client import Client, EngineCallError, sequence
from rank_processes import RankedEngine, ranked_engine
from ranks.test_ranks import create, train, uneven_units
from running import RunningEngine
from tiny import GPT2, create_request

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from parallel.learning import QWEN3

pytestmark = [pytest.mark.slow, pytest.mark.parallel]

LONG_TOKENS = 131_072
# Memory of all ranks together: torch takes 0.3 GiB in each.
LONG_GIB = 8


@pytest.fixture
def meshed(tmp_path: Path) -> Iterator[RankedEngine]:
    with ranked_engine("fsdp", tmp_path / "engine.log", 4, "--parallel", "1,2,2") as running:
        yield running


def test_an_engine_with_a_mesh_learns_as_one_process(
    meshed: RankedEngine, engine: RunningEngine, tmp_path: Path
) -> None:
    assert "data 1 x context 2 x tensor 2" in meshed.log.read_text()
    one, four = engine.client, meshed.client
    for client in (one, four):
        create(client, config=QWEN3, value_head=True)
    np.testing.assert_allclose(train(four, range(20)), train(one, range(20)), rtol=1e-4, atol=1e-4)
    units = uneven_units(0)
    for ours, theirs in zip(one.forward(units), four.forward(units), strict=True):
        np.testing.assert_allclose(theirs["logprob"], ours["logprob"], atol=1e-4)

    # One process resumes what four have saved, and four what one has.
    four.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "four"))
    one.call = one.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "four")).last_call
    np.testing.assert_allclose(train(one, range(20, 22)), train(four, range(20, 22)), rtol=1e-5, atol=1e-5)
    one.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "one"))
    four.call = four.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "one")).last_call
    # Both have the same weights to the last bit, also in the samplers of all ranks.
    published = [client.numbered("Publish", pb.PublishRequest, model_id="policy") for client in (one, four)]
    assert published[0].checksum == published[1].checksum

    with pytest.raises(EngineCallError, match="no plan by which 2 ranks share"):
        create(four, "other", config=GPT2)
    four.call += 1
    request = pb.EstimateMemoryRequest(models=[create_request("next", json.dumps(GPT2))])
    with pytest.raises(EngineCallError, match="no plan by which 2 ranks share"):
        four.unary("EstimateMemory", request)
    assert four.forward(units)


def test_one_sequence_of_131072_tokens_over_4_ranks(tmp_path: Path) -> None:
    config: dict[str, Any] = {
        **QWEN3,
        "hidden_size": 32,
        "head_dim": 8,
        # Attention to all pairs of tokens is most of the time.
        "num_hidden_layers": 1,
        "max_position_embeddings": LONG_TOKENS,
        "vocab_size": 512,
    }
    with ranked_engine("fsdp", tmp_path / "engine.log", 4, "--parallel", "1,4,1") as running:
        client: Client = running.client
        create(client, config=config)
        tokens = np.random.default_rng(0).integers(2, 512, LONG_TOKENS).tolist()
        mask = [0] + [1] * (LONG_TOKENS - 1)
        gradients = {"grad_logprob": [-1.0] * (LONG_TOKENS - 1)}
        unit = pb.Unit(sequences=[sequence(tokens, mask, **gradients)])
        result = client.forward_backward([unit], None, normalizer=LONG_TOKENS, return_outputs=True, timeout=1200)
        assert result.done is not None
        assert result.done.computed_tokens == LONG_TOKENS
        logprob = result.outputs[0]["logprob"]
        assert logprob.shape == (LONG_TOKENS - 1,)
        assert np.isfinite(logprob).all()
        assert client.step("policy", learning_rate=1e-3).applied
        peak = sum(_peak_bytes(process) for process in _descendants(running.process.pid))
    print(f"{peak / 2**30:.2f} GiB in all")
    assert peak < LONG_GIB * 2**30


def _descendants(process: int) -> list[int]:
    children = [
        int(child)
        for task in Path(f"/proc/{process}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [process, *(each for child in children for each in _descendants(child))]


def _peak_bytes(process: int) -> int:
    """Returns the largest resident memory that a process has had."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
