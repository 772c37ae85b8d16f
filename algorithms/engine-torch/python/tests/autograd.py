"""Gradients of the same loss by torch's autograd: sequences one by one through the transformers module."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models import LoadedModel

TorchOutputs = dict[str, torch.Tensor]


def reference_outputs(model: LoadedModel, unit: pb.Unit, temperature: float = 1.0) -> TorchOutputs:
    """Returns the outputs of a unit's masked positions with their graph, from full logits."""
    parts: dict[str, list[torch.Tensor]] = {"logprob": [], "entropy": [], "value": [], "final_value": []}
    for wire in unit.sequences:
        tokens = torch.from_numpy(np.frombuffer(wire.tokens, "<i4").astype(np.int64))[None]
        positions = torch.from_numpy(np.flatnonzero(np.frombuffer(wire.mask, np.uint8)))
        result = model.module(input_ids=tokens, output_hidden_states=True)
        log_p = torch.log_softmax(result.logits[0].float() / temperature, -1)[positions - 1]
        parts["logprob"].append(log_p.gather(1, tokens[0, positions][:, None])[:, 0])
        parts["entropy"].append(-(log_p.exp() * log_p).sum(-1))
        if model.value_head is not None:
            hidden = result.hidden_states[-1][0]
            parts["value"].append(model.value_head(hidden[positions - 1]))
            parts["final_value"].append(model.value_head(hidden[-1:]))
    return {name: torch.cat(found) for name, found in parts.items() if found}


def reference_gradients(
    model: LoadedModel,
    units: Sequence[pb.Unit],
    loss: Callable[[int, TorchOutputs], torch.Tensor],
    temperature: float = 1.0,
) -> dict[str, torch.Tensor]:
    """Returns the gradients of the sum of `loss` over units, by parameter; the model's own are left as they were."""
    total = torch.stack([loss(i, reference_outputs(model, unit, temperature)) for i, unit in enumerate(units)]).sum()
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    found = torch.autograd.grad(total, [parameter for _, parameter in named], allow_unused=True)
    return {name: gradient for (name, _), gradient in zip(named, found, strict=True) if gradient is not None}


def accumulated(trainable: object) -> dict[str, torch.Tensor]:
    """Copies of what a TrainableModel has accumulated, by parameter."""
    from mrlm_engine.training.trainable_model import TrainableModel

    assert isinstance(trainable, TrainableModel)
    return {name: gradient.clone() for name, _, gradient in trainable.gradients.tensors()}


def largest_difference(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> float:
    """Returns the largest difference of any gradient, relative to the largest number of its parameter's."""
    assert found.keys() == expected.keys()
    return max(
        float((found[name] - expected[name]).abs().max() / expected[name].abs().max().clamp_(min=1e-8))
        for name in expected
    )
