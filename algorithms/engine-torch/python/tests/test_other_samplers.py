"""Samplers in other processes: the same bits as the trainer's, and faults of their weights."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from client import EngineCallError, group
from running import RunningEngine
from sampling.architectures import MISTRAL, MIXTURE, QWEN3, SCALED
from sampling.calls import add, logprobs, tokens, wave
from tiny import GPT2, LLAMA, QWEN2
from transformers import AutoModelForCausalLM

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.service.receive_weights import read_weights

pytestmark = pytest.mark.slow

ADDS = [add(i, prompt, max_tokens=12) for i, prompt in enumerate(([5, 6, 7], [5, 6, 7], [9], [3, 4, 8, 2, 1]))]
CONFIGS = {
    c["model_type"] + ("-scaled" if c is SCALED else ""): c
    for c in (QWEN2, QWEN3, GPT2, LLAMA, MISTRAL, MIXTURE, SCALED)
}
TIED = QWEN2


@pytest.fixture
def sampler() -> Iterator[RunningEngine]:
    """Yields a process that samples only, in this process behind a real socket."""
    running = RunningEngine(samples_only=True)
    yield running
    running.stop()


def publish(engine: RunningEngine, **fields: Any) -> engine_pb2.PublishResponse:
    answer: engine_pb2.PublishResponse = engine.client.numbered(
        "Publish", engine_pb2.PublishRequest, model_id="policy", **fields
    )
    return answer


def update(sampler: RunningEngine, engine: RunningEngine, published: Any, **fields: Any) -> pb.UpdateResponse:
    given: dict[str, Any] = {"version": published.version, "checksum": published.checksum, **fields}
    request = pb.UpdateRequest(model_id="policy", trainer=pb.TrainerSource(address=engine.address), **given)
    answer: pb.UpdateResponse = sampler.client.unary("Update", request)
    return answer


def drawn(engine: RunningEngine) -> dict[int, tuple[list[int], bytes, list[int]]]:
    responses = engine.client.sampling.Sample(iter([wave(ADDS)]), timeout=60)
    finishes = [finish for response in responses for finish in response.finish]
    return {f.id: (tokens(f), f.logprobs, [run.version for run in f.versions]) for f in finishes}


def learn(engine: RunningEngine) -> None:
    engine.client.forward_backward([group([5, 6], [[7, 8], [9]])], lambda _, out: {"logprob": -out["logprob"]})
    engine.client.step()


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_bits_are_those_of_the_trainer(engine: RunningEngine, sampler: RunningEngine, name: str) -> None:
    engine.create(config=CONFIGS[name], trainable=True)
    for _ in range(2):
        published = publish(engine)
        assert update(sampler, engine, published).checksum == published.checksum
        assert drawn(sampler) == drawn(engine)
        learn(engine)
    # Unpublished weights stay with the trainer.
    assert drawn(sampler) == drawn(engine)
    (model,) = sampler.client.sampling.Describe(pb.DescribeRequest(), timeout=60).models
    assert (model.model_id, model.version, model.checksum) == ("policy", published.version, published.checksum)


@pytest.mark.parametrize(
    "fields",
    [
        {"lora": engine_pb2.Lora(rank=2, alpha=8.0, seed=3)},
        {"dtype": "bfloat16"},
        {"dtype": "bfloat16", "float32_head": True},
    ],
    ids=["adapter", "bfloat16", "float32 head"],
)
def test_formats_are_those_of_the_trainer(
    engine: RunningEngine, sampler: RunningEngine, fields: dict[str, Any]
) -> None:
    engine.create(config=TIED, trainable=True, **fields)
    found = []
    # R24: the second version has the prompts of the first one, whose keys and values it must not reuse.
    for _ in range(2):
        learn(engine)
        update(sampler, engine, publish(engine))
        found.append(drawn(sampler))
        assert found[-1] == drawn(engine)
    assert found[0][0][1] != found[1][0][1]
    assert sampler.client.unary("ReadTokenizer", pb.ReadTokenizerRequest(model_id="policy")).files == {}


def test_wrong_weights_leave_the_earlier_ones(engine: RunningEngine, sampler: RunningEngine) -> None:
    engine.create(trainable=True)
    first = publish(engine)
    update(sampler, engine, first)
    before = drawn(sampler)
    learn(engine)
    second = publish(engine)
    for code, fields in (
        ("WEIGHTS_VERSION", {"version": 1, "checksum": "0"}),
        ("WEIGHTS_VERSION", {"version": second.version + 1}),
        ("WEIGHTS_VERSION", {"checksum": "0"}),
        ("OPTIONS_INVALID", {"in_flight": 99}),
    ):
        with pytest.raises(EngineCallError) as caught:
            update(sampler, engine, second, **fields)
        assert caught.value.code == code
    assert drawn(sampler) == before
    with pytest.raises(EngineCallError, match="publishes its weights itself"):
        update(engine, engine, second)
    assert update(sampler, engine, second).version == second.version
    assert drawn(sampler) == drawn(engine)
    # Another model under the same name is another sampler.
    engine.client.numbered("ReleaseModel", engine_pb2.ReleaseModelRequest, model_id="policy")
    engine.create(config=TIED, trainable=True)
    update(sampler, engine, publish(engine))
    assert drawn(sampler) == drawn(engine)


def test_an_engine_that_is_gone_is_named(engine: RunningEngine, sampler: RunningEngine) -> None:
    request = pb.UpdateRequest(model_id="policy", version=1, trainer=pb.TrainerSource(address="127.0.0.1:9"))
    with pytest.raises(EngineCallError, match=r"127\.0\.0\.1:9") as caught:
        sampler.client.unary("Update", request)
    assert caught.value.code == "ENGINE_UNAVAILABLE"
    with pytest.raises(EngineCallError) as caught:
        update(sampler, engine, engine_pb2.PublishResponse(version=1))
    assert caught.value.code == "MODEL_NOT_FOUND"


def test_damaged_streams_are_refused(engine: RunningEngine) -> None:
    engine.create(trainable=True)
    published = publish(engine)
    whole = list(engine.client.stub.Weights(engine_pb2.WeightsRequest(model_id="policy"), timeout=60))
    read = read_weights(whole, published.version, published.checksum)
    assert set(read.tensors) == {tensor.name for tensor in read.header.tensors}
    header, data = whole[0], b"".join(message.data for message in whole[1:])
    other = engine_pb2.WeightsResponse(header=header.header)
    other.header.tensors[0].dtype = "float33"
    untold = engine_pb2.WeightsResponse(header=header.header)
    untold.header.tensors[0].same_as = "nothing"
    piece = engine_pb2.WeightsResponse
    for damaged in (
        [],
        whole[1:],
        whole[:-1],
        [header, piece(data=data[:-1])],
        [header, piece(data=data + b"0")],
        [other, *whole[1:]],
        [untold, *whole[1:]],
    ):
        with pytest.raises(EngineError) as caught:
            read_weights(damaged, published.version, published.checksum)
        assert caught.value.code == "WEIGHTS_INVALID"
    cut = iter([header, *(piece(data=data[i : i + 7]) for i in range(0, len(data), 7))])
    assert all(torch.equal(read.tensors[n], t) for n, t in read_weights(cut, 1, published.checksum).tensors.items())


def test_weights_are_of_one_version_while_others_are_published(engine: RunningEngine, sampler: RunningEngine) -> None:
    engine.create(trainable=True)
    published = publish(engine)
    over = threading.Event()

    def train() -> None:
        while not over.is_set():
            learn(engine)
            publish(engine)

    thread = threading.Thread(target=train)
    thread.start()
    try:
        found, refused = 0, {"WEIGHTS_VERSION"}
        while found < 3:
            (model,) = engine.client.sampling.Describe(pb.DescribeRequest(), timeout=60).models
            try:
                update(sampler, engine, model)
                found += 1
            except EngineCallError as error:
                refused.add(error.code)
    finally:
        over.set()
        thread.join()
    assert refused == {"WEIGHTS_VERSION"}
    assert publish(engine).version > published.version


@pytest.mark.parametrize("config", [TIED, GPT2], ids=["qwen2", "gpt2"])
@pytest.mark.parametrize("lora", [False, True], ids=["", "adapter"])
@pytest.mark.parametrize("untied", [False, True], ids=["tied", "untied"])
def test_published_weights_are_written(
    engine: RunningEngine, tmp_path: Path, config: dict[str, Any], lora: bool, untied: bool
) -> None:
    fields: dict[str, Any] = {"lora": engine_pb2.Lora(rank=2, alpha=8.0, seed=3)} if lora else {}
    engine.create(config=config, trainable=True, **fields)
    learn(engine)
    published = publish(engine)
    sequence = group([5, 6, 7], [[3, 1, 4, 1, 5]])
    (expected,) = engine.client.forward([sequence])
    learn(engine)
    request = engine_pb2.WriteWeightsRequest(model_id="policy", directory=str(tmp_path / "w"), untied=untied)
    for _ in range(2):
        written = engine.client.unary("WriteWeights", request)
        assert (written.version, written.checksum) == (published.version, published.checksum)
    module: Any = AutoModelForCausalLM.from_pretrained(tmp_path / "w")
    assert module.config.tie_word_embeddings is not untied
    context = torch.tensor([[5, 6, 7, 3, 1, 4, 1, 5]])
    with torch.no_grad():
        rows = module(context).logits[0, 2:-1].log_softmax(-1)
    found = rows.gather(-1, context[0, 3:, None])[:, 0].numpy()
    assert abs(found - expected["logprob"]).max() < 2e-5


def test_rules_for_running_sequences(engine: RunningEngine) -> None:
    engine.state.device = type(engine.state.device)(engine.state.device.device, False, 2)
    model = engine.create(config={**TIED, "max_position_embeddings": 512}, trainable=True)
    long = add(1, [5, 6, 7], max_tokens=300)
    long.params.min_tokens = 300
    for rule in (pb.IN_FLIGHT_RECOMPUTE, pb.IN_FLIGHT_KEEP, pb.IN_FLIGHT_WAIT):
        request = wave([long])
        request.add[0].stream_tokens = True
        learn(engine)
        before = model.version
        responses = engine.client.sampling.Sample(iter([request]), timeout=60)
        next(responses)
        published = publish(engine, in_flight=rule)
        (finish,) = [finish for response in responses for finish in response.finish]
        versions = [run.version for run in finish.versions]
        assert len(tokens(finish)) == 300
        assert versions in ([before], [before, published.version])
        if rule == pb.IN_FLIGHT_WAIT:
            assert versions == [before]
        if rule == pb.IN_FLIGHT_RECOMPUTE and len(versions) == 2:
            start = finish.versions[0].count
            (exact,) = engine.client.forward([group([5, 6, 7], [tokens(finish)])])
            assert abs(exact["logprob"][start:] - logprobs(finish).numpy()[start:]).max() < 1e-4
