"""Models the engine holds: how they are made, what belongs to them, and their weights."""

from mrlm_engine.models.create import create_model
from mrlm_engine.models.held import HeldModel
from mrlm_engine.models.registry import ModelRegistry

__all__ = ["HeldModel", "ModelRegistry", "create_model"]
