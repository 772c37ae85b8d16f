"""The calls OptimStep, Average, Publish, Save, Load and Export."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

from mrlm_engine.checkpoint.export import export_published
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.service import rank_models
from mrlm_engine.service.codec.in_flight import in_flight_rule
from mrlm_engine.service.codec.models import model_info_message
from mrlm_engine.service.state import EngineState
from mrlm_engine.training import rank_work
from mrlm_engine.training.optimizer import AdamWParameters


def optim_step(state: EngineState, request: pb.OptimStepRequest) -> pb.OptimStepResponse:
    """Applies the accumulated gradients."""
    state.trainable_model(request.model_id).require_trainable()
    adamw = request.adamw
    parameters = AdamWParameters(adamw.learning_rate, adamw.beta1, adamw.beta2, adamw.epsilon, adamw.weight_decay)
    check_parameters(parameters, request.max_grad_norm)
    with state.passes.settled(request.model_id, "OptimStep"):
        result = state.ranks.everywhere(rank_work.optim_step, request.model_id, parameters, request.max_grad_norm)[0]
    return pb.OptimStepResponse(
        applied=result.applied,
        grad_norm=result.grad_norm,
        step=state.registry.get(request.model_id).step,
        skipped_reason=result.skipped_reason,
        seconds=result.seconds,
    )


def check_parameters(parameters: AdamWParameters, max_grad_norm: float) -> None:
    """Refuses hyperparameters that AdamW cannot use."""
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


def average(state: EngineState, request: pb.AverageRequest) -> pb.AverageResponse:
    """Moves a frozen model towards another on every rank."""
    with state.passes.settled(request.of, "Average"):
        state.ranks.everywhere(rank_models.average, request.model_id, request.of, request.decay)
    return pb.AverageResponse()


def publish(state: EngineState, request: pb.PublishRequest) -> pb.PublishResponse:
    """Publishes the trained weights to the sampler of each rank."""
    results = state.ranks.everywhere(rank_models.publish, request.model_id, in_flight_rule(request.in_flight))
    found = sorted({result.checksum[:12] for result in results})
    if len(found) > 1:
        raise EngineError(
            "ENGINE_FAILED",
            f"The ranks have different weights of '{request.model_id}': {', '.join(found)}.",
            "Resume from the last checkpoint, and report the fault: they are kept equal bit by bit.",
        )
    return pb.PublishResponse(version=results[0].version, checksum=results[0].checksum, seconds=results[0].seconds)


def write_weights(state: EngineState, request: pb.WriteWeightsRequest) -> pb.WriteWeightsResponse:
    """Writes the published weights as a Hugging Face directory."""
    model, weights = state.registry.get(request.model_id), state.sampler(request.model_id).published()
    files = export_published(model, weights, directory_of(request.directory), untied=request.untied)
    return pb.WriteWeightsResponse(version=weights.version, checksum=weights.checksum, files=files)


def save(state: EngineState, request: pb.SaveRequest) -> pb.SaveResponse:
    """Writes a checkpoint that counts this call as applied."""
    wanted = list(request.model_ids) or [model.model_id for model in state.registry.all()]
    directory, last_call = directory_of(request.directory), max(state.calls.last, request.call)
    with contextlib.ExitStack() as settled:
        for model_id in wanted:
            settled.enter_context(state.passes.settled(model_id, "Save"))
        written, checksum = state.ranks.everywhere(rank_models.save, directory, wanted, last_call)[0]
    return pb.SaveResponse(bytes=written, checksum=checksum)


def load(state: EngineState, request: pb.LoadRequest) -> pb.LoadResponse:
    """Restores a checkpoint. Models that it does not contain stay unchanged."""
    names = ("micro_batch_tokens", "gradient_checkpointing")
    changes = {name: getattr(request, name) for name in names if request.HasField(name)}
    infos, last_call = state.ranks.everywhere(rank_models.load, directory_of(request.directory), changes)[0]
    for info in infos:
        state.passes.forget(info.model_id)
    state.calls.restart(last_call)
    return pb.LoadResponse(models=[model_info_message(info) for info in infos], last_call=last_call)


def export(state: EngineState, request: pb.ExportRequest) -> pb.ExportResponse:
    """Writes a Hugging Face directory."""
    directory = directory_of(request.directory)
    arguments = (request.model_id, directory, request.merge_adapter)
    return pb.ExportResponse(files=state.ranks.everywhere(rank_models.export, *arguments)[0])


def directory_of(name: str) -> Path:
    """Returns the absolute path of a request's directory."""
    if not name:
        raise EngineError("OPTIONS_INVALID", "The request names no directory.", "Give a path on the engine's machine.")
    if "\0" in name:
        raise EngineError("OPTIONS_INVALID", "The name of the directory holds a NUL character.", "Name another one.")
    # Resolved, because the directory must be replaced and not a link to it.
    return Path(os.path.realpath(name))
