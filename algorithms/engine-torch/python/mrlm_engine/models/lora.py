"""Low-rank adapters (Hu et al., arXiv 2106.09685) through peft, injected into a model's linear layers in place."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers.pytorch_utils import Conv1D

from mrlm_engine.distributed.tensors import whole
from mrlm_engine.errors import EngineError

ADAPTER = "default"


def inject_adapter(module: Any, settings: dict[str, Any]) -> None:
    """Wraps the target layers of `module` (rank, alpha, dropout, target_modules, seed) and freezes everything else.

    The second factor starts at zero, so the model computes what it computed before.
    """
    if importlib.util.find_spec("peft") is None:
        raise EngineError(
            "LORA_UNAVAILABLE",
            "LoRA was asked for, but peft is not installed.",
            "Run `mrlm engine setup --extra lora`.",
        )
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(
        r=settings["rank"],
        lora_alpha=settings["alpha"],
        lora_dropout=settings["dropout"],
        target_modules=settings["target_modules"] or linear_layers_but_head(module),
        task_type="CAUSAL_LM",
    )
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings["seed"] & 0x7FFF_FFFF_FFFF_FFFF)
        try:
            inject_adapter_in_model(config, module, adapter_name=ADAPTER)
        except ValueError as cause:
            raise EngineError(
                "OPTIONS_INVALID",
                f"peft refused the adapter: {str(cause).rstrip('.')}.",
                "Name linear layers of this model in target_modules.",
            ) from cause


def linear_layers_but_head(module: Any) -> list[str]:
    """Last name parts of the linear layers (GPT-2 writes them as Conv1D), the language-model head excepted."""
    head = module.get_output_embeddings()
    names = {
        name.rsplit(".", 1)[-1]
        for name, layer in module.named_modules()
        if isinstance(layer, (torch.nn.Linear, Conv1D)) and layer is not head
    }
    return sorted(names)


def adapter_layers(module: Any) -> list[Any]:
    """The wrapped layers of `module`; empty without an adapter."""
    if importlib.util.find_spec("peft") is None:
        return []
    from peft.tuners.tuners_utils import BaseTunerLayer

    return [layer for layer in module.modules() if isinstance(layer, BaseTunerLayer)]


@contextlib.contextmanager
def adapters_disabled(module: Any) -> Iterator[None]:
    """Inside, `module` computes without its adapter; afterwards it is on again, whatever happened."""
    layers = adapter_layers(module)
    trainable = [p for p in module.parameters() if p.requires_grad]
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)
        for parameter in trainable:
            parameter.requires_grad_(True)


def wrapped_layers(module: Any) -> dict[str, Any]:
    """The wrapped layers by their name in `module`."""
    wrapped = {id(layer) for layer in adapter_layers(module)}
    return {name: layer for name, layer in module.named_modules() if id(layer) in wrapped}


def delta_weight(layer: Any) -> torch.Tensor:
    """What the adapter adds to a layer's weight. A collective where the weights are divided among the ranks."""
    return whole(layer.get_delta_weight(ADAPTER).detach())


def adapter_tensors(module: Any) -> dict[str, torch.Tensor]:
    """The adapter's weights on CPU, by the names that peft gives them. A collective where the weights are divided."""
    from peft import get_peft_model_state_dict

    state = get_peft_model_state_dict(module, adapter_name=ADAPTER)
    return {f"base_model.model.{name}": whole(tensor.detach()).cpu().contiguous() for name, tensor in state.items()}


def write_adapter(module: Any, tensors: dict[str, torch.Tensor], directory: Path) -> None:
    """Writes adapter_config.json and adapter_model.safetensors, which peft loads on top of the base weights."""
    save_file(tensors, directory / "adapter_model.safetensors")
    module.peft_config[ADAPTER].save_pretrained(str(directory))
