"""Creation of a module of a known configuration without its weights."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM

from mrlm_engine.models.lora import inject_adapter


def empty_module(config: Any, dtype: torch.dtype, lora: dict[str, Any] | None) -> Any:
    """Creates the causal language model of `config` on CPU, with the layers of its adapter if it has one."""
    with torch.random.fork_rng(devices=[]):
        module = AutoModelForCausalLM.from_config(config, dtype=dtype, trust_remote_code=False)
    if lora is not None:
        inject_adapter(module, lora)
    return module


@torch.no_grad()
def named_tensors(module: torch.nn.Module, prefix: str = "") -> dict[str, torch.Tensor]:
    """Returns parameters and persistent buffers by state-dict name, tied ones once."""
    seen: set[int] = set()
    unique = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            unique[prefix + name] = tensor.detach()
    return unique
