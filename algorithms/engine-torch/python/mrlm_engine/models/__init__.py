"""Models that the engine has loaded: creation, settings, adapters, shards and weights.

A LoadedModel is the only owner of its weights. Code that reads or changes them holds its lock.
It must not know protobuf, training or sampling.
"""

from mrlm_engine.models.create import create_model
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.registry import ModelRegistry

__all__ = ["LoadedModel", "ModelRegistry", "create_model"]
