"""Layers of a model that can have a low-rank adapter, and the target layers of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers.pytorch_utils import Conv1D

from mrlm_engine.errors import EngineError


def adaptable_layers(module: Any) -> dict[str, Any]:
    """Returns the linear layers of the backbone (Conv1D in GPT-2) by name; never the language-model head."""
    head = module.get_output_embeddings()
    backbone = {id(layer) for layer in module.base_model.modules()}
    return {
        name: layer
        for name, layer in module.named_modules()
        if isinstance(layer, (torch.nn.Linear, Conv1D)) and layer is not head and id(layer) in backbone
    }


def target_layers(module: Any, targets: Sequence[str]) -> dict[str, Any]:
    """Returns the layers that `targets` name, by the whole name or its end after a dot; all layers without targets.

    Refuses a target that matches no layer, or one that cannot have an adapter, because it would have no effect.
    """
    linear = adaptable_layers(module)
    if not targets:
        return linear
    found = {}
    for target in targets:
        named = dict(_named(module, target))
        unfit = next((name for name in named if name not in linear), None)
        if unfit is not None or not named:
            reason = "names no layer of this model" if unfit is None else _reason(module, unfit, named[unfit])
            raise EngineError(
                "OPTIONS_INVALID",
                f"LoRA target '{target}' {reason}.",
                f"Layers that can have an adapter: {', '.join(last_names(linear))}. Omit target_modules for all.",
            )
        found.update(named)
    return {name: layer for name, layer in linear.items() if name in found}


def last_names(layers: dict[str, Any]) -> list[str]:
    """Returns the last parts of the layers' names, sorted."""
    return sorted({name.rsplit(".", 1)[-1] for name in layers})


def short_names(module: Any, layers: dict[str, Any]) -> list[str]:
    """Returns targets that match exactly `layers`: last parts of names if these suffice, else whole names."""
    short = last_names(layers)
    named = {name for target in short for name, _ in _named(module, target)}
    return short if named == layers.keys() else sorted(layers)


def layer_size(layer: Any) -> tuple[int, int]:
    """Returns the numbers of inputs and outputs of a linear layer."""
    rows, columns = layer.weight.shape
    return (rows, columns) if isinstance(layer, Conv1D) else (columns, rows)


def _named(module: Any, target: str) -> Iterator[tuple[str, Any]]:
    for name, part in module.named_modules():
        if name == target or name.endswith(f".{target}"):
            yield name, part


def _reason(module: Any, name: str, part: Any) -> str:
    if part is module.get_output_embeddings():
        return "is the language-model head, whose logits the engine computes from its weight alone"
    if part is module.get_input_embeddings():
        return "is the embedding of the input tokens, not a linear layer"
    if isinstance(part, (torch.nn.Linear, Conv1D)):
        return f"names '{name}', which is not a part of the backbone"
    return f"names '{name}', which is a {type(part).__name__} and not a linear layer"
