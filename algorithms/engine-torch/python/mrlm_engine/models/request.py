"""The parameters of a new model."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


class Role(enum.IntEnum):
    """The purpose of a model, numbered as in engine.proto."""

    UNSPECIFIED = 0
    POLICY = 1
    CRITIC = 2
    REFERENCE = 3
    REWARD = 4


@dataclass(frozen=True)
class FromDirectory:
    """A directory in Hugging Face's layout."""

    path: str


@dataclass(frozen=True)
class FromRandom:
    """Random weights: a transformers configuration as JSON, and tokenizer files by name."""

    config_json: str
    seed: int
    tokenizer_files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class CopyOf:
    """The current weights of the model `model_id`."""

    model_id: str


@dataclass(frozen=True)
class AdapterOff:
    """The model `model_id` with its adapter switched off; the weights are shared."""

    model_id: str


Source = FromDirectory | FromRandom | CopyOf | AdapterOff


@dataclass(frozen=True)
class LoraRequest:
    """A low-rank adapter. With `path` it continues a saved one, and 0 or an empty value keeps the saved setting."""

    rank: int = 0
    alpha: float = 0.0
    dropout: float = 0.0
    target_modules: Sequence[str] = ()
    seed: int = 0
    path: str = ""


@dataclass(frozen=True)
class ModelRequest:
    """Request for a new model, with the fields of engine.proto's CreateModelRequest."""

    model_id: str
    # None if the request has no source, which `create_model` refuses.
    source: Source | None
    role: Role = Role.UNSPECIFIED
    lora: LoraRequest | None = None
    # A name of `device.DTYPES`; empty leaves the choice to the device.
    dtype: str = ""
    float32_head: bool = False
    value_head: bool = False
    trainable: bool = False
    gradient_checkpointing: bool = False
    # Token budget of one micro-batch; 0 leaves it to the engine.
    micro_batch_tokens: int = 0
