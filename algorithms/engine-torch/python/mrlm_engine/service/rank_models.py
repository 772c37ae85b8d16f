"""Work of each rank for calls that create, free, publish, save or load models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mrlm_engine.checkpoint.export import export_model
from mrlm_engine.checkpoint.load import load_checkpoint
from mrlm_engine.checkpoint.save import save_checkpoint
from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.memory.available import available_memory
from mrlm_engine.models import create_model
from mrlm_engine.models.average import move_average
from mrlm_engine.models.info import ModelInfo, model_info
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.request import ModelRequest, Role
from mrlm_engine.models.unusable import unusable_configuration
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import InFlight, PublishResult
from mrlm_engine.sampling.choose_decoder import hand_written_decoder
from mrlm_engine.service.state import EngineState


def create(state: EngineState, request: ModelRequest) -> ModelInfo:
    """Makes a model, and probes the ways in which its outputs are computed."""
    with unusable_configuration(request):
        model = create_model(request, state.registry, state.placement)
        try:
            # The probe must run before the weights are divided among the ranks.
            probe_decoder(model)
            state.trainable_model(model.model_id)
            return model_info(model)
        except Exception:
            state.release(model.model_id)
            raise


def probe_decoder(model: LoadedModel) -> None:
    """Probes the decoder that a policy is sampled with, on a copy of the weights that is freed again.

    Models of other roles are rarely sampled. If there is no memory for the copy, there may be none for a sampler.
    In both cases the decoder is probed when the sampler is made.
    """
    if model.role != Role.POLICY:
        return
    with model.lock:
        weights = inference_weights(model)
        available = available_memory(model.device).bytes
        if not available or sum(weight.nbytes for weight in weights.values()) <= available:
            hand_written_decoder(model, weights)


def release(state: EngineState, model_id: str) -> None:
    """Frees a model."""
    state.release(model_id)


def discard(state: EngineState, model_id: str) -> None:
    """Frees a model if it exists."""
    if any(model.model_id == model_id for model in state.registry.all()):
        state.release(model_id)


def average(state: EngineState, model_id: str, other: str, decay: float) -> None:
    """Moves the weights of a frozen model towards those of another."""
    with COMPUTE_CLOCK.running():
        move_average(state.registry.get(model_id), state.registry.get(other), decay)


def publish(state: EngineState, model_id: str, rule: InFlight) -> PublishResult:
    """Publishes the trained weights to this rank's sampler."""
    with COMPUTE_CLOCK.running():
        return state.publish(model_id, rule)


def save(state: EngineState, directory: Path, model_ids: list[str], last_call: int) -> tuple[int, str]:
    """Writes a checkpoint. Returns its bytes and the checksum of its manifest."""
    return save_checkpoint(directory, [state.trainable_model(model_id) for model_id in model_ids], last_call)


def load(state: EngineState, directory: Path, changes: dict[str, Any]) -> tuple[list[ModelInfo], int]:
    """Restores a checkpoint with `changes` to the saved settings of each model. Returns its models and last call."""
    checkpoint = load_checkpoint(directory, state.placement, changes)
    state.replace([restored.model for restored in checkpoint.models])
    for restored in checkpoint.models:
        model = restored.model
        restored.restore(state.trainable_model(model.model_id))
        # A sampler copies the weights when it is made. After the next optimizer step they are newer than the published.
        if model.trainable and model.version > 0:
            state.own_sampler(model.model_id)
    checkpoint.restore_random_state()
    return [model_info(restored.model) for restored in checkpoint.models], checkpoint.last_call


def export(state: EngineState, model_id: str, directory: Path, merge_adapter: bool) -> list[str]:
    """Writes a Hugging Face directory. Returns its file names."""
    return export_model(state.registry.get(model_id), directory, merge_adapter=merge_adapter)
