"""The models of one engine by id."""

from __future__ import annotations

import difflib
import threading

from mrlm_engine.errors import EngineError
from mrlm_engine.models.loaded_model import LoadedModel


class ModelRegistry:
    """Thread-safe map from model id to model, in order of creation."""

    def __init__(self) -> None:
        self._models: dict[str, LoadedModel] = {}
        self._lock = threading.Lock()

    def get(self, model_id: str) -> LoadedModel:
        """Returns the model of this id. MODEL_NOT_FOUND names the most similar id."""
        with self._lock:
            model = self._models.get(model_id)
            known = list(self._models)
        if model is not None:
            return model
        near = difflib.get_close_matches(model_id, known, n=1)
        listing = ", ".join(known) or "none"
        hint = f"Did you mean '{near[0]}'?" if near else f"Create it with CreateModel; loaded models: {listing}."
        raise EngineError("MODEL_NOT_FOUND", f"The engine holds no model '{model_id}'.", hint)

    def check_new(self, model_id: str) -> None:
        """Refuses an empty id and one that is in use."""
        if not model_id:
            raise EngineError("OPTIONS_INVALID", "The model id is empty.", "Choose a name such as 'policy'.")
        with self._lock:
            if model_id in self._models:
                raise EngineError(
                    "OPTIONS_INVALID",
                    f"The engine already holds a model '{model_id}'.",
                    "Release it first, or choose another id.",
                )

    def add(self, model: LoadedModel) -> None:
        """Adds a model under its id, which must be new."""
        self.check_new(model.model_id)
        with self._lock:
            self._models[model.model_id] = model

    def replace(self, model: LoadedModel) -> None:
        """Replaces the model with the same id, or adds the model."""
        with self._lock:
            self._models[model.model_id] = model

    def remove(self, model_id: str) -> LoadedModel:
        """Removes a model. Raises MODEL_IN_USE if another model uses its weights."""
        model = self.get(model_id)
        users = [m.model_id for m in self.all() if m.adapter_off is model]
        if users:
            raise EngineError(
                "OPTIONS_INVALID",
                f"Model '{users[0]}' computes with the weights of '{model_id}'.",
                f"Release '{users[0]}' first.",
            )
        with self._lock:
            del self._models[model_id]
        return model

    def all(self) -> list[LoadedModel]:
        """Returns all models, oldest first."""
        with self._lock:
            return list(self._models.values())
