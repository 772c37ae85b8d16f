"""Layers of a transformers module, and the number format of their weights."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
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


@contextlib.contextmanager
def first_layers(module: Any) -> Iterator[None]:
    """Leaves the module its first layers, one of each kind at least, in float32 inside the block.

    A comparison in 16 bits would find other sums that choose other experts.
    """
    backbone, dtype = module.base_model, module.dtype
    layers = layer_list(backbone)
    kinds = [tuple((name, type(part)) for name, part in layer.named_modules()) for layer in layers]
    count = max((kinds.index(kind) + 1 for kind in set(kinds)), default=0)
    rest = list(layers[count:])
    del layers[count:]
    names = {name for name, parameter in backbone.named_parameters() if parameter.dtype == dtype}
    cast(backbone, torch.float32, names)
    try:
        yield
    finally:
        cast(backbone, dtype, names)
        layers.extend(rest)
