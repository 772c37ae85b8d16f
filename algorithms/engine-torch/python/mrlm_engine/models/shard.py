"""Divides a model's weights among the ranks.

Along `tensor` its products are divided (models/tensor_parallel.py), and among the ranks that have the same part of each
product all weights (FSDP2, torch's fully_shard; ZeRO stage 3, arXiv 1910.02054).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

from mrlm_engine.compute.mesh import SHARD, TENSOR, RankMesh
from mrlm_engine.compute.tensors import is_sharded
from mrlm_engine.models.layers import cast, decoder_layers
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import is_factor
from mrlm_engine.models.tensor_parallel import check_tensor_parallel, divide_products


def is_divided(model: LoadedModel) -> bool:
    """Whether the ranks hold parts of the weights of the module."""
    return any(is_sharded(parameter) for parameter in model.module.parameters())


def shard_model(model: LoadedModel, mesh: RankMesh) -> None:
    """Moves the model to the mesh's device, and divides its weights. A collective."""
    device = torch.device(mesh.device_type)
    if mesh.tensor > 1:
        check_tensor_parallel(model.module, mesh.tensor, model.model_id, has_adapter=model.lora is not None)
        divide_products(model.module, mesh.weights[TENSOR], model.model_id)
    if mesh.divides:
        _divide_weights(model, mesh)
    else:
        model.module.to(device)
    for buffer_owner in model.module.modules():
        for name, buffer in buffer_owner.named_buffers(recurse=False):
            buffer_owner._buffers[name] = buffer.to(device)
    if model.value_head is not None:
        model.value_head.to(device)
    model.device = device


def _divide_weights(model: LoadedModel, mesh: RankMesh) -> None:
    """Divides the weights. A layer is gathered only while it computes.

    Trainable weights are kept in float32 and cast for each use, so they are their own master copies. Inputs are not
    cast: rotary angles stay in float32 (NUMERICS 19). The value head and the factors of an adapter are small and stay
    whole; a cast would round the factors. The backbone is one FSDP tree, so it must be called as a whole. Code that
    multiplies by the head's weight gathers it first.
    """
    module, backbone = model.module, model.module.base_model
    device = torch.device(mesh.device_type)
    low = model.dtype != torch.float32
    factors = {parameter for name, parameter in module.named_parameters() if is_factor(name)}
    for parameter in factors:
        parameter.data = parameter.data.to(device)
    if low:
        cast(
            module,
            torch.float32,
            {name for name, p in module.named_parameters() if p.requires_grad and p not in factors},
        )
    policy = MixedPrecisionPolicy(
        param_dtype=model.dtype if low else None, reduce_dtype=torch.float32, cast_forward_inputs=False
    )
    head = module.get_output_embeddings()
    is_tied = head.weight is module.get_input_embeddings().weight
    groups = [*decoder_layers(backbone), backbone, *([] if is_tied else [head])]
    for group in groups:
        sharded: Any = fully_shard(
            group, mesh=mesh.weights[SHARD], mp_policy=policy, reshard_after_forward=True, ignored_params=factors
        )
        assert isinstance(sharded, FSDPModule)
        # Gradients are divided by the call's normalizer already, so ranks are summed and not averaged.
        sharded.set_force_sum_reduction_for_comms(True)
        sharded.set_gradient_divide_factor(1.0)
    if is_tied:
        head.weight = module.get_input_embeddings().weight
