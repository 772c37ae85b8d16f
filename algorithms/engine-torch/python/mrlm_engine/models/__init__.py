"""Models that the engine has loaded: how they are made, their settings, adapters, shards and weights.

A LoadedModel is the one owner of its weights; whoever reads or changes them holds its lock.
It must not know protobuf, training or sampling.
"""

from mrlm_engine.models.create import create_model
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.registry import ModelRegistry

__all__ = ["LoadedModel", "ModelRegistry", "create_model"]
