"""Exponential average of weights."""

from __future__ import annotations

import torch

from mrlm_engine.compute.tensors import part, part_of, whole
from mrlm_engine.errors import EngineError
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.rebuild import named_tensors


@torch.no_grad()
def move_average(model: LoadedModel, other: LoadedModel, decay: float) -> None:
    """Replaces each weight w of a frozen model by w + (1 - decay) (v - w) with the weight v of the other model.

    Weights of a lower format are rounded from float32 averages. Collectives gather weights that ranks divide.
    """
    _check(model, other, decay)
    values = named_tensors(other.module)
    with other.lock, model.lock:
        for name, place in named_tensors(model.module).items():
            local = part(place)
            value = part_of(whole(values[name]), place).to(local.device)
            if local.dtype == torch.float32:
                local.lerp_(value.float(), 1.0 - decay)
            elif local.is_floating_point():
                kept = model.averages.setdefault(name, local.float())
                local.copy_(kept.lerp_(value.float(), 1.0 - decay))
            else:
                local.copy_(value)
        model.generation += 1


def _check(model: LoadedModel, other: LoadedModel, decay: float) -> None:
    if not 0.0 <= decay < 1.0:
        raise EngineError("OPTIONS_INVALID", f"The decay of an average is {decay}.", "Set it to at least 0, below 1.")
    if model.trainable:
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{model.model_id}' is trained: an average would undo its steps.",
            "Average into a frozen model.",
        )
    for each in (model, other):
        if each.lora is not None:
            raise EngineError(
                "OPTIONS_INVALID",
                f"'{each.model_id}' has an adapter, and the average of adapters' factors is no average of weights.",
                "Average models without adapters.",
            )
    ours, theirs = (
        {name: tuple(tensor.shape) for name, tensor in named_tensors(each.module).items()} for each in (model, other)
    )
    if ours != theirs:
        odd = sorted(dict(ours.items() ^ theirs.items()))[:3]
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{model.model_id}' has not the shape of '{other.model_id}': {', '.join(odd)} differ.",
            "Average models of the same configuration.",
        )
