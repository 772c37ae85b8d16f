"""Tensors that FSDP's mixed precision casts, and those that it keeps, in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from tiny import LLAMA, create_model, create_request
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import init_device_mesh

from mrlm_engine.backbone.transformers_backbone import TransformersBackbone
from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.compute.mesh import SHARD, TENSOR, RankMesh
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.layers import decoder_layers
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.shard import shard_model


@pytest.fixture
def mesh() -> Iterator[RankMesh]:
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield RankMesh(1, 1, 1, True, init_device_mesh("cpu", (1, 1), mesh_dim_names=(SHARD, TENSOR)))
    dist.destroy_process_group()


def bfloat16_model() -> LoadedModel:
    request = create_request("policy", json.dumps(LLAMA), dtype="bfloat16", value_head=True)
    return create_model(request, ModelRegistry(), Placement(torch.device("cpu")))


def sequence(prompt: int, length: int) -> TokenSequence:
    """Returns a sequence whose outputs are requested for all tokens after the prompt."""
    return TokenSequence(np.arange(3, 3 + length, dtype=np.int32), np.arange(prompt, length))


UNITS = [TokenUnit(0, (sequence(3, 6),)), TokenUnit(1, (sequence(9, 11),))]


class Seen(Exception):  # noqa: N818 - ends a forward pass
    """Carries the arguments of a layer's call."""


def test_numerics_19_rotary_angles_and_other_inputs_are_not_cast(mesh: RankMesh) -> None:
    model = bfloat16_model()
    before = TransformersBackbone(model).forward(UNITS, True, False).hidden
    shard_model(model, mesh)
    after = TransformersBackbone(model).forward(UNITS, True, False).hidden
    assert before.dtype == after.dtype == torch.bfloat16
    assert torch.equal(before, after)

    # An architecture that passes its angles in float32 is computed with them in float32.
    backbone = model.module.base_model
    rotary = backbone.rotary_emb.forward

    def exact(hidden: torch.Tensor, *arguments: Any, **named: Any) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = rotary(hidden.float(), *arguments, **named)
        return cos, sin

    def look(_: torch.nn.Module, __: Any, named: dict[str, Any]) -> None:
        raise Seen([angle.dtype for angle in named["position_embeddings"]])

    backbone.rotary_emb.forward = exact
    attention: Any = decoder_layers(backbone)[0].self_attn
    attention.register_forward_pre_hook(look, with_kwargs=True)
    with pytest.raises(Seen) as seen:
        TransformersBackbone(model).forward(UNITS, True, False)
    assert seen.value.args[0] == [torch.float32, torch.float32]
    backbone.rotary_emb.forward = rotary


def test_numerics_47_the_value_head_is_whole_in_float32_and_zero(mesh: RankMesh) -> None:
    model = bfloat16_model()
    shard_model(model, mesh)
    assert model.value_head is not None
    for parameter in model.value_head.parameters():
        assert type(parameter.data) is torch.Tensor
        assert parameter.dtype == torch.float32
        assert not parameter.any()
