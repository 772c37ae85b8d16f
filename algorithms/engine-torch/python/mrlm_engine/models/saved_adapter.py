"""Adapters on disk in the format of peft: adapter_config.json and adapter_model.safetensors."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from mrlm_engine.errors import EngineError
from mrlm_engine.models.lora import ADAPTER, adapter_layers
from mrlm_engine.models.lora_layers import adaptable_layers, layer_size

CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"
_TENSOR = re.compile(r"base_model\.model\.(?P<layer>.+)\.(?P<factor>lora_[AB])\.weight")
_HINT = "Name a directory with a LoRA adapter that was trained on this model, as peft or a run of mrlm writes it."
# Options of peft that change an adapter's computation or weights, with the value that the engine supports.
_PLAIN = {
    "use_dora": False,
    "use_qalora": False,
    "bias": "none",
    "lora_bias": False,
    "rank_pattern": {},
    "alpha_pattern": {},
    "modules_to_save": None,
    "layer_replication": None,
    "target_parameters": None,
    "trainable_token_indices": None,
    "alora_invocation_tokens": None,
}


@dataclass(frozen=True)
class SavedAdapter:
    """A LoRA adapter with one rank and one alpha: factors by layer."""

    directory: str
    rank: int
    # B A is multiplied by alpha / rank.
    alpha: float
    # float32, {"lora_A": [rank, inputs], "lora_B": [outputs, rank]} by name of the layer.
    factors: dict[str, dict[str, torch.Tensor]]

    def check_fits(self, module: Any) -> None:
        """Refuses a model that lacks an adapted layer or has one of another size."""
        layers = adaptable_layers(module)
        for name, factors in self.factors.items():
            if name not in layers:
                raise _invalid(
                    f"The adapter in '{self.directory}' adapts '{name}', which is no linear layer of this model."
                )
            inputs, outputs = layer_size(layers[name])
            expected = {"lora_A": (self.rank, inputs), "lora_B": (outputs, self.rank)}
            found = {factor: tuple(tensor.shape) for factor, tensor in factors.items()}
            if found != expected:
                raise _invalid(
                    f"The adapter in '{self.directory}' does not fit '{name}': its factors are {found}, "
                    f"where this model needs {expected}."
                )

    @torch.no_grad()
    def fill(self, module: Any) -> None:
        """Copies the factors into the wrapped layers of `module`, which must be the layers of the adapter."""
        layers = adapter_layers(module)
        for name, factors in self.factors.items():
            for factor, tensor in factors.items():
                getattr(layers[name], factor)[ADAPTER].weight.copy_(tensor)


def read_adapter(directory: str) -> SavedAdapter:
    """Reads the adapter in `directory` after a check that the engine supports all of it."""
    path = Path(directory)
    if not path.is_dir():
        raise EngineError("MODEL_DIRECTORY_MISSING", f"There is no adapter directory '{directory}'.", _HINT)
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        if not (path / name).is_file():
            raise _invalid(f"'{directory}' is no LoRA adapter: it holds no {name}.")
    try:
        config = json.loads((path / CONFIG_FILE).read_text("utf-8"))
        tensors = load_file(path / WEIGHTS_FILE)
    except Exception as cause:  # safetensors has its own exceptions.
        raise _invalid(f"The adapter in '{directory}' cannot be read: {cause}.") from cause
    rank, alpha = _check_config(directory, config)
    return SavedAdapter(directory, rank, alpha, _factors(directory, tensors))


def write_adapter(module: Any, directory: Path) -> None:
    """Writes the adapter of `module` into the new `directory`, in float32."""
    from peft import get_peft_model_state_dict

    directory.mkdir()
    factors = get_peft_model_state_dict(module, adapter_name=ADAPTER)
    named = {f"base_model.model.{name}": tensor.detach().cpu().contiguous() for name, tensor in factors.items()}
    save_file(named, directory / WEIGHTS_FILE)
    config = module.peft_config[ADAPTER]
    config.base_model_name_or_path = getattr(module.config, "_name_or_path", None) or None
    config.inference_mode = True
    config.save_pretrained(str(directory))
    config.inference_mode = False


def _check_config(directory: str, config: Any) -> tuple[int, float]:
    """Returns rank and alpha of a plain LoRA adapter."""
    kind = config.get("peft_type") if isinstance(config, dict) else None
    if kind != "LORA":
        raise _invalid(f"The adapter in '{directory}' is of type {kind}, not LORA.")
    other = [name for name, plain in _PLAIN.items() if (config.get(name) or plain) != plain]
    if other:
        settings = ", ".join(f"{name}: {json.dumps(config[name])}" for name in other)
        raise _invalid(f"The adapter in '{directory}' uses settings that the engine does not compute: {settings}.")
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if not isinstance(rank, int) or rank < 1 or not isinstance(alpha, (int, float)) or not alpha > 0:
        raise _invalid(f"The adapter in '{directory}' has r {rank} and lora_alpha {alpha}; both must be above 0.")
    # rsLoRA (arXiv 2312.03732) scales by alpha / sqrt(rank).
    return rank, float(alpha) * (math.sqrt(rank) if config.get("use_rslora") else 1.0)


def _factors(directory: str, tensors: dict[str, torch.Tensor]) -> dict[str, dict[str, torch.Tensor]]:
    found: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in sorted(tensors.items()):
        match = _TENSOR.fullmatch(name)
        if match is None:
            raise _invalid(f"The adapter in '{directory}' holds '{name}', which is no factor of a linear layer.")
        if not torch.isfinite(tensor).all():
            raise _invalid(f"The adapter in '{directory}' holds numbers in '{name}' that are not finite.")
        found.setdefault(match["layer"], {})[match["factor"]] = tensor.float()
    if not found:
        raise _invalid(f"The adapter in '{directory}' holds no factors.")
    alone = next((name for name, factors in found.items() if len(factors) != 2), None)
    if alone is not None:
        raise _invalid(f"The adapter in '{directory}' holds only one factor of '{alone}'.")
    return found


def _invalid(message: str) -> EngineError:
    return EngineError("MODEL_DIRECTORY_INVALID", message, _HINT)
