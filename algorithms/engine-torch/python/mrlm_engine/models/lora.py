"""Low-rank adapters (Hu et al., arXiv 2106.09685) through peft, injected into a model's linear layers in place.

A layer computes y = round(W x) + s B (A x) in float32, rounded to the model's format. A and B are float32 in every
format: W + s B A, rounded to 16 bits, would lose a B below about 1e-3 of W.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import torch

from mrlm_engine.errors import EngineError
from mrlm_engine.models.lora_layers import last_names, short_names, target_layers

ADAPTER = "default"


def inject_adapter(module: Any, settings: dict[str, Any]) -> None:
    """Wraps the target layers of `module` (rank, alpha, dropout, target_modules, seed) and freezes all other weights.

    B starts at zero, so the outputs of the model do not change.
    """
    if importlib.util.find_spec("peft") is None:
        raise EngineError(
            "LORA_UNAVAILABLE",
            "LoRA was asked for, but peft is not installed.",
            "Run `mrlm engine setup --extra lora`.",
        )
    from peft import LoraConfig, inject_adapter_in_model

    layers = target_layers(module, settings["target_modules"])
    config = LoraConfig(
        r=settings["rank"],
        lora_alpha=settings["alpha"],
        lora_dropout=settings["dropout"],
        target_modules=short_names(module, layers),
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
                f"Layers that can have an adapter: {', '.join(last_names(layers))}.",
            ) from cause
    for name, parameter in module.named_parameters():
        if is_factor(name):
            parameter.data = parameter.data.float()


def is_factor(name: str) -> bool:
    """Whether a parameter name of a wrapped module belongs to an adapter's A or B."""
    return ".lora_" in name


def plain_name(name: str) -> str:
    """Returns the name of a wrapped module's tensor without peft: the layer's own, or `<layer>.lora_A.weight`."""
    return (
        name.replace(".base_layer.", ".")
        .replace(f".lora_A.{ADAPTER}.", ".lora_A.")
        .replace(f".lora_B.{ADAPTER}.", ".lora_B.")
    )


def adapter_layers(module: Any) -> dict[str, Any]:
    """Returns the wrapped layers of `module` by name; empty without an adapter."""
    if importlib.util.find_spec("peft") is None:
        return {}
    from peft.tuners.tuners_utils import BaseTunerLayer

    return {name: layer for name, layer in module.named_modules() if isinstance(layer, BaseTunerLayer)}


def adapter_scale(settings: dict[str, Any]) -> float:
    """Returns s = alpha / rank, the factor of B A."""
    return float(settings["alpha"]) / int(settings["rank"])


@contextlib.contextmanager
def adapters_disabled(module: Any) -> Iterator[None]:
    """Switches the adapter of `module` off inside the block. It is on again afterwards, also after an exception."""
    layers = adapter_layers(module).values()
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


def delta_weight(layer: Any) -> torch.Tensor:
    """Returns s B A in the layout of the layer's weight, in float32."""
    delta: torch.Tensor = layer.get_delta_weight(ADAPTER).detach()
    return delta


@contextlib.contextmanager
def adapters_in_use(module: Any) -> Iterator[Callable[[], list[str]]]:
    """Yields a function that lists kinds of adapted layers (last parts of names) whose adapter was not computed."""
    layers, used = adapter_layers(module), set[str]()
    hooks = [
        layer.lora_B[ADAPTER].register_forward_hook(lambda *_, name=name: used.add(name))
        for name, layer in layers.items()
    ]
    try:
        yield lambda: sorted(set(last_names(layers)) - set(last_names(dict.fromkeys(used))))
    finally:
        for hook in hooks:
            hook.remove()
