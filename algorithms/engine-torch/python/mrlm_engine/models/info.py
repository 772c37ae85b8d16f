"""What a client is told about a model."""

from __future__ import annotations

from mrlm_engine.device import dtype_name
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models.held import HeldModel


def model_info(held: HeldModel) -> pb.ModelInfo:
    """The wire description of a model; tied weights are counted once."""
    sizes = [(parameter.numel(), parameter.requires_grad) for _, parameter in held.named_parameters()]
    return pb.ModelInfo(
        model_id=held.model_id,
        role=pb.Role.Name(held.role),
        architecture=held.config.model_type,
        parameters=sum(n for n, _ in sizes),
        trainable_parameters=sum(n for n, grad in sizes if grad and held.trainable),
        vocab_size=held.vocab_size,
        max_positions=held.max_positions,
        eos_token_ids=held.eos_token_ids,
        pad_token_id=held.pad_token_id,
        dtype=dtype_name(held.dtype),
        step=held.step,
        version=held.version,
        has_value_head=held.value_head is not None,
        config_json=held.config.to_json_string(use_diff=False),
    )
