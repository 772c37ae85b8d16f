"""The description of a model for clients."""

from __future__ import annotations

from dataclasses import dataclass

from mrlm_engine.device import dtype_name
from mrlm_engine.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class ModelInfo:
    """Sizes, settings and counters; the fields are those of engine.proto's ModelInfo."""

    model_id: str
    role: int
    architecture: str
    parameters: int
    trainable_parameters: int
    vocab_size: int
    max_positions: int
    eos_token_ids: list[int]
    pad_token_id: int
    dtype: str
    step: int
    version: int
    has_value_head: bool
    config_json: str


def model_info(held: LoadedModel) -> ModelInfo:
    """Describes a model. Tied weights are counted once."""
    sizes = [(parameter.numel(), parameter.requires_grad) for _, parameter in held.named_parameters()]
    return ModelInfo(
        model_id=held.model_id,
        role=held.role,
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
