"""The sampler's weights through everything that makes, moves or frees others'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from client import group
from running import RunningEngine
from tiny import GPT2, QWEN2

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from sampling.calls import add, tokens
from sampling.test_wire import OPEN, PROMPT, difference, sample

REQUEST = sampler_pb2.SampleRequest(open=OPEN, add=[add(i, PROMPT) for i in range(3)], barrier=True)


def learn(engine: RunningEngine, passes: int) -> None:
    """Applies one optimizer step of what several passes have accumulated."""
    for i in range(passes):
        unit = group(PROMPT, [[9 + i, 10, 11], [12, 13 + i]])
        engine.client.forward_backward([unit], lambda _, o: {"logprob": -np.ones_like(o["logprob"])})
    engine.client.step()


def bits(finishes: list[sampler_pb2.SampleFinish]) -> list[tuple[list[int], bytes]]:
    return [(tokens(finish), finish.logprobs) for finish in finishes]


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["fused", "module"])
def test_numerics_50_weights_stay_through_accumulation_other_models_and_checkpoints(
    engine: RunningEngine, config: dict[str, object], tmp_path: Path
) -> None:
    client = engine.client
    engine.create(config=config)
    sample(engine, REQUEST)
    checksums = []
    # Every update is delivered, however many passes it is made of; a publication without one changes nothing.
    for passes in (1, 3, 2):
        learn(engine, passes)
        checksums.append(client.numbered("Publish", pb.PublishRequest, model_id="policy").checksum)
        assert difference(engine, sample(engine, REQUEST), 1.0) < 1e-4
        assert client.numbered("Publish", pb.PublishRequest, model_id="policy").checksum == checksums[-1]
    assert len(set(checksums)) == 3
    kept = bits(sample(engine, REQUEST))

    # Passes without an update, models that come and go, a checkpoint and an export: the same bits.
    client.numbered("CreateModel", pb.CreateModelRequest, model_id="reference", copy_of="policy")
    client.forward([group(PROMPT, [[3, 4]])], "reference")
    client.forward_backward([group(PROMPT, [[3, 4]])], lambda _, o: {"logprob": np.ones_like(o["logprob"])})
    client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "checkpoint"))
    client.numbered("Export", pb.ExportRequest, model_id="policy", directory=str(tmp_path / "hf"))
    client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id="reference")
    assert bits(sample(engine, REQUEST)) == kept

    # A checkpoint that is loaded brings its weights to the sampler too, not to the trainer alone.
    learn(engine, 1)
    client.numbered("Publish", pb.PublishRequest, model_id="policy")
    assert bits(sample(engine, REQUEST)) != kept
    client.call = client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "checkpoint")).last_call
    assert bits(sample(engine, REQUEST)) == kept
    assert difference(engine, sample(engine, REQUEST), 1.0) < 1e-4


def test_a_loaded_checkpoint_samples_with_its_own_weights_also_after_a_step(
    engine: RunningEngine, tmp_path: Path
) -> None:
    client = engine.client
    engine.create(config=QWEN2)
    learn(engine, 1)
    client.numbered("Publish", pb.PublishRequest, model_id="policy")
    kept = bits(sample(engine, REQUEST))
    client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "checkpoint"))
    client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "checkpoint"))
    # Play beside learning may sample for the first time when a step has changed the trainer's weights.
    learn(engine, 1)
    assert bits(sample(engine, REQUEST)) == kept
