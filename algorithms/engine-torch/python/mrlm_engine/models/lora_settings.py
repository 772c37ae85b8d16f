"""Settings of the adapter in a request: a new one, or a saved one to continue."""

from __future__ import annotations

from typing import Any

from mrlm_engine.errors import EngineError
from mrlm_engine.models.request import LoraRequest, ModelRequest
from mrlm_engine.models.saved_adapter import SavedAdapter, read_adapter


def lora_settings(request: ModelRequest) -> tuple[dict[str, Any] | None, SavedAdapter | None]:
    """Returns the settings for `inject_adapter`, and the saved adapter to continue, each None without one."""
    lora = request.lora
    if lora is None:
        return None, None
    if lora.dropout != 0.0:
        raise EngineError(
            "OPTIONS_INVALID",
            f"LoRA dropout is {lora.dropout}; the engine trains without dropout, so that a sample's ratio starts at 1.",
            "Set it to 0.",
        )
    settings = {
        "rank": lora.rank,
        "alpha": lora.alpha,
        "dropout": lora.dropout,
        "target_modules": list(lora.target_modules),
        "seed": lora.seed,
    }
    if lora.path:
        saved = read_adapter(lora.path)
        return {**settings, **_of_saved(lora, saved)}, saved
    if lora.rank == 0:
        raise EngineError("OPTIONS_INVALID", "LoRA of rank 0 makes no adapter.", "Use a rank of at least 1.")
    if not lora.alpha > 0:
        raise EngineError("OPTIONS_INVALID", f"LoRA with alpha {lora.alpha} learns nothing.", "Use an alpha above 0.")
    return settings, None


def _of_saved(lora: LoraRequest, saved: SavedAdapter) -> dict[str, Any]:
    """Returns the settings of the saved adapter. Settings in the request must be equal to them."""
    layers = sorted(saved.factors)
    faults = [
        f"{name} {asked} instead of {found:g}"
        for name, asked, found in (("rank", lora.rank, saved.rank), ("alpha", lora.alpha, saved.alpha))
        if asked not in (0, found)
    ]
    targets = list(lora.target_modules)
    odd = [name for name in layers if targets and not any(name == t or name.endswith(f".{t}") for t in targets)]
    unused = [t for t in targets if not any(name == t or name.endswith(f".{t}") for name in layers)]
    if odd or unused:
        faults.append(f"target_modules {targets}, which leave out or add {(odd + unused)[0]}")
    if faults:
        raise EngineError(
            "OPTIONS_INVALID",
            f"The request differs from the adapter in '{saved.directory}': {'; '.join(faults)}.",
            "Omit rank, alpha and target_modules: the adapter has its own.",
        )
    return {"rank": saved.rank, "alpha": saved.alpha, "target_modules": layers}
