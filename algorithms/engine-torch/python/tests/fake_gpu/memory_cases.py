"""Passes of real size whose peak on the fake GPU is compared with the engine's estimate."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig

from fake_gpu.real_size import SIZES, TrainingCost, train
from fake_gpu.work import LORA
from mrlm_engine.backbone.transformers_backbone import Layout
from mrlm_engine.memory.estimate import estimate, total
from mrlm_engine.memory.plan import ModelPlan, Setting
from mrlm_engine.memory.shape import adapter_inputs, adapter_parameters, empty_model, model_shape

# (size, answers, longest answer, settings)
CASES: dict[str, tuple[str, int, int, dict[str, Any]]] = {
    "0.5B, masked": ("0.5B", 16, 1024, {"layout": Layout.MASKED}),
    "0.5B, packed": ("0.5B", 16, 1024, {}),
    "0.5B, checkpointed": ("0.5B", 16, 1024, {"gradient_checkpointing": True}),
    "0.5B, adapter": ("0.5B", 16, 1024, {"lora": True}),
    "1.5B, packed": ("1.5B", 16, 1024, {"float32_head": True}),
    "1.5B, common prompt": ("1.5B", 64, 64, {"prompt": 3000, "common": True}),
    "1.5B with 12 keys, common prompt": ("1.5B, 12 keys", 64, 64, {"prompt": 3000, "common": True}),
    "1.5B with 12 keys, long common prompt": ("1.5B, 12 keys", 32, 200, {"prompt": 8000, "common": True}),
    "1.5B with 12 keys, common prompt, checkpointed": (
        "1.5B, 12 keys",
        64,
        64,
        {"prompt": 3000, "common": True, "gradient_checkpointing": True},
    ),
    "7B, packed": ("7B", 8, 512, {}),
    "7B, adapter": ("7B", 8, 512, {"lora": True}),
}


def estimated(size: str, longest: int, tokens: int, settings: dict[str, Any]) -> int:
    """Returns the bytes that the engine estimates for a pass with a budget of `tokens`, without a sampler."""
    module = empty_model(AutoConfig.for_model("qwen2", **SIZES[size]), torch.bfloat16)
    shape = model_shape(module)
    fields = {name: value for name, value in settings.items() if name not in ("layout", "lora", "prompt", "common")}
    adapter = adapter_parameters(module, LORA["rank"], []) if settings.get("lora") else 0
    plan = ModelPlan(
        "policy",
        shape,
        2,
        trainable_parameters=adapter or shape.parameters,
        adapter_parameters=adapter,
        adapter_inputs=adapter_inputs(module, [], shape.layers) if adapter else 0,
        **fields,
    )
    setting = Setting("cuda", settings.get("prompt", 200) + longest, waiting_graphs=1)
    return total(estimate([plan], setting, tokens))


def measured(name: str) -> tuple[TrainingCost, float]:
    """Returns the cost of a case, and the estimate relative to its peak."""
    size, rows, longest, settings = CASES[name]
    cost = train(size, rows, longest, **settings)
    return cost, estimated(size, longest, cost.token_cost, settings) / max(cost.pass_peak, cost.step_peak)
