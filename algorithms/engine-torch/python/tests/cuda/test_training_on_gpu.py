"""Gradients, optimizer, checkpoints and sharded weights on a GPU."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed
from client import group
from on_gpu import device_or_skip, make_on
from sampling.architectures import BY_MODULE, FUSED
from tiny import create_model, create_request
from torch.distributed.device_mesh import init_device_mesh

from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.checkpoint.load import load_checkpoint
from mrlm_engine.checkpoint.save import save_checkpoint
from mrlm_engine.compute.mesh import SHARD, TENSOR, RankMesh
from mrlm_engine.compute.tensors import whole
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models import ModelRegistry
from mrlm_engine.models.placement import Placement
from mrlm_engine.service.codec.units import decode_units
from mrlm_engine.training.micro_batch import LanesMicroBatch
from mrlm_engine.training.optimizer import AdamWParameters
from mrlm_engine.training.trainable_model import TrainableModel

DEVICE = device_or_skip()
CASES = {"qwen2": FUSED["qwen2"], "gpt2": BY_MODULE["gpt2"], "mixture": BY_MODULE["mixture"]}
UNITS = [group([3, 4, 5 + i], [[6 + i, 7, 8], [9, 10, 11 + i, 12]]) for i in range(6)]
SELECTION = Selection(logprob=True, entropy=True, value=False, final_value=False)
ADAMW = AdamWParameters(1e-3, 0.9, 0.999, 1e-8, 0.01)


def accumulate(trainable: TrainableModel) -> dict[str, torch.Tensor]:
    """Returns the gradients of the sum of the log-probabilities and entropies of UNITS, float32 on the CPU."""
    units = decode_units(UNITS, trainable.model, linear=False)
    trainable.begin_pass()
    for share in trainable.plan(units, False, 1):
        micro_batch = LanesMicroBatch(trainable, share[0], SELECTION, keep_graph=True)
        micro_batch.outputs()
        ones = [np.ones(unit.outputs, np.float32) for unit in share[0]]
        micro_batch.backward([UnitGradients(logprob=one, entropy=0.1 * one) for one in ones], 10.0)
    trainable.commit_pass()
    return {name: whole(gradient).float().cpu().clone() for name, _, gradient in trainable.gradients.tensors()}


def weights(trainable: TrainableModel) -> dict[str, torch.Tensor]:
    return {name: whole(p.detach()).cpu().clone() for name, p in trainable.model.named_parameters()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("checkpointing", [False, True])
def test_cuda_gradients_are_those_of_a_cpu_in_float32(name: str, checkpointing: bool) -> None:
    found = accumulate(TrainableModel(make_on(DEVICE, CASES[name], gradient_checkpointing=checkpointing)))
    expected = accumulate(TrainableModel(make_on(torch.device("cpu"), CASES[name], "float32")))
    assert found.keys() == expected.keys()
    for key, gradient in expected.items():
        if name != "mixture" and gradient.norm() > 1e-3:
            assert torch.nn.functional.cosine_similarity(found[key].flatten(), gradient.flatten(), dim=0) > 0.97, key
    assert all(torch.isfinite(gradient).all() for gradient in found.values())


def test_cuda_training_repeats_its_bits() -> None:
    runs = []
    for _ in range(2):
        trainable = TrainableModel(make_on(DEVICE, CASES["qwen2"]))
        for _ in range(3):
            accumulate(trainable)
            assert trainable.step(ADAMW, 1.0).applied
        runs.append(weights(trainable))
    assert all(torch.equal(runs[0][name], runs[1][name]) for name in runs[0])


@pytest.mark.parametrize("fields", [{}, {"lora": pb.Lora(rank=4, alpha=8.0)}], ids=["full", "lora"])
def test_cuda_a_checkpoint_goes_on_bit_by_bit(fields: dict[str, Any], tmp_path: Path) -> None:
    if fields:
        pytest.importorskip("peft")
    trainable = TrainableModel(make_on(DEVICE, CASES["qwen2"], **fields))
    accumulate(trainable)
    trainable.step(ADAMW, 1.0)
    accumulate(trainable)
    save_checkpoint(tmp_path / "c", [trainable], 7)
    loaded = load_checkpoint(tmp_path / "c", Placement(DEVICE), {})
    again = TrainableModel(loaded.models[0].model)
    loaded.models[0].restore(again)
    for one in (trainable, again):
        one.step(ADAMW, 1.0)
        accumulate(one)
        one.step(ADAMW, 1.0)
    ours, theirs = weights(trainable), weights(again)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.fixture(name="mesh")
def _mesh(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in (("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "0"), ("RANK", "0"), ("WORLD_SIZE", "1")):
        monkeypatch.setitem(os.environ, name, value)
    store = torch.distributed.HashStore()  # type: ignore[attr-defined]
    backend = "nccl" if DEVICE.type == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    yield RankMesh(1, 1, 1, True, init_device_mesh(DEVICE.type, (1, 1), mesh_dim_names=(SHARD, TENSOR)))
    torch.distributed.destroy_process_group()


def test_cuda_divided_weights_learn_what_whole_ones_learn(mesh: Any) -> None:
    request = create_request("policy", json.dumps(CASES["qwen2"]), dtype="bfloat16")
    divided = TrainableModel(create_model(request, ModelRegistry(), Placement(DEVICE, mesh)))
    alone = TrainableModel(make_on(DEVICE, CASES["qwen2"]))
    found, expected = accumulate(divided), accumulate(alone)
    for name, gradient in expected.items():
        if gradient.norm() > 1e-3:
            similar = torch.nn.functional.cosine_similarity(found[name].flatten(), gradient.flatten(), dim=0)
            assert similar > 0.99, name
    for trainable in (divided, alone):
        assert trainable.step(ADAMW, 1.0).applied
    ours, theirs = weights(divided), weights(alone)
    assert all((ours[name].float() - theirs[name].float()).abs().max() < 0.02 for name in theirs)
