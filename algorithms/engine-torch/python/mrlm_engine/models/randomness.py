"""Models that compute the same each time they run."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedConfig

# Parts of the names of what a model draws random numbers for while it trains.
_RANDOM = ("drop", "jitter")
# Read in evaluation too, where it is a threshold and nothing is drawn: without it the model would be another one.
_KEPT = {("phimoe", "router_jitter_noise")}


def remove_randomness(config: Any) -> Any:
    """Sets every dropout and jitter of a transformers configuration, and of those inside it, to 0; returns it.

    A policy whose passes draw random numbers gives other log-probabilities than it was sampled with. Must be called
    before the model is made, since modules copy these numbers.
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
