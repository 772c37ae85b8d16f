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


def model_info(model: LoadedModel) -> ModelInfo:
    """Describes a model. Tied weights are counted once."""
    sizes = [(parameter.numel(), parameter.requires_grad) for _, parameter in model.named_parameters()]
    return ModelInfo(
        model_id=model.model_id,
        role=model.role,
        architecture=model.config.model_type,
        parameters=sum(n for n, _ in sizes),
        trainable_parameters=sum(n for n, grad in sizes if grad and model.trainable),
        vocab_size=model.vocab_size,
        max_positions=model.max_positions,
        eos_token_ids=model.eos_token_ids,
        pad_token_id=model.pad_token_id,
        dtype=dtype_name(model.dtype),
        step=model.step,
        version=model.version,
        has_value_head=model.value_head is not None,
        config_json=model.config.to_json_string(use_diff=False),
    )
