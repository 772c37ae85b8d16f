"""Removal of randomness from models."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedConfig

# Parts of the names of options for which a model draws random numbers during training.
_RANDOM = ("drop", "jitter")
# Also read in evaluation, as a threshold without random numbers. Without it the model would be another one.
_KEPT = {("phimoe", "router_jitter_noise")}


def remove_randomness(config: Any) -> Any:
    """Sets every dropout and jitter of a transformers configuration, and of those inside it, to 0; returns it.

    With random numbers in its passes, a policy has other log-probabilities than those it was sampled with. Must be
    called before the model is created, because modules copy these numbers.
    """
    for name, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            remove_randomness(value)
        elif (
            isinstance(value, float)
            and any(part in name for part in _RANDOM)
            and (config.model_type, name) not in _KEPT
        ):
            setattr(config, name, 0.0)
    return config
