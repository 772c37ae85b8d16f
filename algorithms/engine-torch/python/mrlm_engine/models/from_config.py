"""A randomly initialised model from a configuration and a seed."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import Any

import torch
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM

from mrlm_engine.errors import EngineError
from mrlm_engine.models.attention import LOCAL, foreign_implementation
from mrlm_engine.models.randomness import remove_randomness

_HINT = 'Send a Hugging Face configuration such as {"model_type": "qwen2", "hidden_size": 128, ...}.'


def random_module(config_json: str, seed: int, dtype: torch.dtype) -> Any:
    """Creates a causal language model whose weights depend only on the configuration and the seed.

    Weights are drawn in float32 on CPU, so that every device and number format starts from the same numbers.
    """
    config = parse_random_config(config_json)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed & 0x7FFF_FFFF_FFFF_FFFF)
        module = module_from(config, torch.float32)
    config.dtype = dtype
    return cast_weights(module, dtype)


def module_from(config: Any, dtype: torch.dtype) -> Any:
    """Creates the causal language model of `config` with weights from torch's generator."""
    try:
        return AutoModelForCausalLM.from_config(config, dtype=dtype, trust_remote_code=False)
    except Exception as cause:  # Whatever a model class makes of numbers that do not fit together.
        # The rest of the message is a list of all model classes.
        reason = str(cause).split("\nModel type should be one of")[0].rstrip(".")
        raise EngineError(
            "OPTIONS_INVALID", f"No causal language model can be made from the configuration: {reason}.", _HINT
        ) from cause


@torch.no_grad()
def cast_weights(module: Any, dtype: torch.dtype) -> Any:
    """Casts the tensors of the state dict. Other buffers stay: rotary frequencies in bfloat16 would be inexact."""
    for tensor in module.state_dict(keep_vars=True).values():
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(dtype)
    return module


def parse_config(config_json: str) -> Any:
    """Creates the transformers configuration of `config_json`."""
    try:
        fields = json.loads(config_json)
    except (ValueError, RecursionError) as cause:
        raise EngineError("OPTIONS_INVALID", f"The configuration is not JSON: {cause}.", _HINT) from cause
    if not isinstance(fields, dict) or not isinstance(fields.get("model_type"), str):
        raise EngineError("OPTIONS_INVALID", "The configuration names no model_type.", _HINT)
    foreign = foreign_implementation(fields)
    if foreign:
        message = f"The configuration asks for {foreign}, which is not part of torch or transformers."
        raise EngineError("OPTIONS_INVALID", message, f"Leave it out, or name one of: {', '.join(LOCAL)}.")
    model_type = fields.pop("model_type")
    if model_type not in CONFIG_MAPPING:
        nearest = get_close_matches(model_type, list(CONFIG_MAPPING.keys()))
        suggestion = f" Did you mean {_alternatives(nearest)}?" if nearest else ""
        message = f"transformers knows no model_type '{model_type}'.{suggestion}"
        raise EngineError("OPTIONS_INVALID", message, _HINT)
    try:
        return remove_randomness(AutoConfig.for_model(model_type, **fields))
    except Exception as cause:  # transformers validates with several libraries, each with its own exceptions.
        message = f"The configuration of '{model_type}' was refused: {cause}."
        raise EngineError("OPTIONS_INVALID", message, _HINT) from cause


def parse_random_config(config_json: str) -> Any:
    """Creates the configuration of a model with new weights.

    Refuses attention heads that do not fit together: transformers creates such a model and fails in its first pass.
    """
    config = parse_config(config_json)
    has_head_dim = json.loads(config_json).get("head_dim") is not None
    hidden, heads, shared = (
        getattr(config, name, None) for name in ("hidden_size", "num_attention_heads", "num_key_value_heads")
    )
    positions = getattr(config, "max_position_embeddings", None)
    fault = ""
    if isinstance(positions, int) and positions < 0:
        fault = f"max_position_embeddings is {positions}"
    elif isinstance(hidden, int) and isinstance(heads, int) and heads > 0:
        if not has_head_dim and hidden % heads != 0:
            fault = f"hidden_size {hidden} is no multiple of num_attention_heads {heads}"
        if isinstance(shared, int) and (shared < 1 or heads % shared != 0):
            fault = f"num_attention_heads {heads} is no multiple of num_key_value_heads {shared}"
    if fault:
        raise EngineError("OPTIONS_INVALID", f"The configuration of '{config.model_type}' was refused: {fault}.", _HINT)
    return config


def _alternatives(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
