"""Layers of a transformers module, and the number format of their weights."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch

from mrlm_engine.compute.tensors import is_sharded


def layer_list(backbone: Any) -> torch.nn.ModuleList:
    """Returns the longest list of modules of a transformers backbone, which are its layers; empty without a list."""
    lists = [part for part in backbone.modules() if isinstance(part, torch.nn.ModuleList)]
    return max(lists, key=len, default=torch.nn.ModuleList())


def decoder_layers(backbone: Any) -> list[torch.nn.Module]:
    """Returns the layers of a transformers backbone that are of the class of the first."""
    layers = layer_list(backbone)
    return [layer for layer in layers if type(layer) is type(layers[0])]


@torch.no_grad()
def cast(module: torch.nn.Module, dtype: torch.dtype, names: Collection[str]) -> None:
    """Casts the parameters of these names."""
    for name, parameter in list(module.named_parameters()):
        if name not in names:
            continue
        if is_sharded(parameter):
            # A DTensor keeps its format when its data change.
            owner, _, own = name.rpartition(".")
            value = torch.nn.Parameter(parameter.detach().to(dtype), parameter.requires_grad)
            module.get_submodule(owner).register_parameter(own, value)
        else:
            parameter.data = parameter.data.to(dtype)
