"""OptimStep, Publish, Save, Load and Export."""

from __future__ import annotations

import math
from pathlib import Path

from mrlm_engine.checkpoint.export import export_model
from mrlm_engine.checkpoint.load import load_checkpoint
from mrlm_engine.checkpoint.save import save_checkpoint
from mrlm_engine.compute_clock import COMPUTE_CLOCK
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models.info import model_info
from mrlm_engine.service.state import EngineState
from mrlm_engine.training.optimizer import AdamWParameters


def optim_step(state: EngineState, request: pb.OptimStepRequest) -> pb.OptimStepResponse:
    """Applies what has accumulated."""
    learner = state.learner(request.model_id)
    learner.require_trainable()
    adamw = request.adamw
    parameters = AdamWParameters(adamw.learning_rate, adamw.beta1, adamw.beta2, adamw.epsilon, adamw.weight_decay)
    check_parameters(parameters, request.max_grad_norm)
    with COMPUTE_CLOCK.running():
        result = learner.step(parameters, request.max_grad_norm)
    return pb.OptimStepResponse(
        applied=result.applied,
        grad_norm=result.grad_norm,
        step=learner.held.step,
        skipped_reason=result.skipped_reason,
        seconds=result.seconds,
    )


def check_parameters(parameters: AdamWParameters, max_grad_norm: float) -> None:
    """Refuses what AdamW cannot work with."""
    faults = [
        f"{name} {value}"
        for name, value, fits in (
            ("learning_rate", parameters.learning_rate, parameters.learning_rate >= 0),
            ("beta1", parameters.beta1, 0 <= parameters.beta1 < 1),
            ("beta2", parameters.beta2, 0 <= parameters.beta2 < 1),
            ("epsilon", parameters.epsilon, parameters.epsilon > 0),
            ("weight_decay", parameters.weight_decay, parameters.weight_decay >= 0),
            ("max_grad_norm", max_grad_norm, max_grad_norm >= 0),
        )
        if not (math.isfinite(value) and fits)
    ]
    if faults:
        raise EngineError(
            "OPTIONS_INVALID",
            f"AdamW cannot step with {', '.join(faults)}.",
            "Rates, decay and norm are at least 0, betas in [0, 1), epsilon above 0.",
        )


def publish(state: EngineState, request: pb.PublishRequest) -> pb.PublishResponse:
    """Gives the sampler the trained weights."""
    with COMPUTE_CLOCK.running():
        result = state.publish(request.model_id)
    return pb.PublishResponse(version=result.version, checksum=result.checksum, seconds=result.seconds)


def save(state: EngineState, request: pb.SaveRequest) -> pb.SaveResponse:
    """Writes a checkpoint that counts this very call as applied."""
    wanted = list(request.model_ids) or [held.model_id for held in state.registry.all()]
    learners = [state.learner(model_id) for model_id in wanted]
    for learner in learners:
        learner.give_up_pass("Save")
    written, checksum = save_checkpoint(directory_of(request.directory), learners, max(state.calls.last, request.call))
    return pb.SaveResponse(bytes=written, checksum=checksum)


def load(state: EngineState, request: pb.LoadRequest) -> pb.LoadResponse:
    """Restores a checkpoint; models that it does not hold stay as they are."""
    checkpoint = load_checkpoint(directory_of(request.directory), state.device.device)
    state.replace([model.held for model in checkpoint.models])
    for model in checkpoint.models:
        model.restore(state.learner(model.held.model_id))
    checkpoint.restore_random_state()
    state.calls.restart(checkpoint.last_call)
    return pb.LoadResponse(
        models=[model_info(model.held) for model in checkpoint.models], last_call=checkpoint.last_call
    )


def export(state: EngineState, request: pb.ExportRequest) -> pb.ExportResponse:
    """Writes a Hugging Face directory."""
    held = state.registry.get(request.model_id)
    files = export_model(held, directory_of(request.directory), merge_adapter=request.merge_adapter)
    return pb.ExportResponse(files=files)


def directory_of(name: str) -> Path:
    """The absolute path of a request's directory."""
    if not name:
        raise EngineError("OPTIONS_INVALID", "The request names no directory.", "Give a path on the engine's machine.")
    return Path(name).absolute()
