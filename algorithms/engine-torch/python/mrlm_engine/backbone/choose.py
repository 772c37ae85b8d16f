"""Chooses the trunk of a model, and proves on a probe that it computes what the model's own class computes."""

from __future__ import annotations

import logging

import numpy as np
import torch

from mrlm_engine.backbone.protocol import Trunk
from mrlm_engine.backbone.transformers_backbone import TransformersTrunk
from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.errors import EngineError
from mrlm_engine.llama.backbone import DenseTrunk
from mrlm_engine.llama.shape import dense_shape
from mrlm_engine.logprobs.logits import logits_head
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import adapters_in_use
from mrlm_engine.models.shard import is_divided

log = logging.getLogger(__name__)

# Largest difference of probe logits, relative to their largest magnitude (at least 1).
TOLERANCE = {torch.float32: 2e-4, torch.bfloat16: 6e-2, torch.float16: 1e-2}


def choose_trunk(held: LoadedModel) -> Trunk:
    """The hot path on CPU for the architectures that it knows, else the transformers module itself."""
    if is_divided(held):
        # Proven before it was, or with the model that this one computes with.
        return TransformersTrunk(held)
    needs_module = held.device.type != "cpu" or held.mesh is not None
    shape = None if needs_module else dense_shape(held.module)
    if shape is not None:
        dense = DenseTrunk(held, shape)
        difference = probe_difference(held, dense)
        if difference <= TOLERANCE[held.dtype]:
            return dense
        log.warning(
            "model %s: the hot path differs from transformers by %.2g and is not used", held.model_id, difference
        )
    trunk = TransformersTrunk(held)
    difference = probe_difference(held, trunk)
    if difference > TOLERANCE[held.dtype]:
        raise EngineError(
            "OPTIONS_INVALID",
            f"Logits of '{held.config.model_type}' differ by {difference:.2g} from its head on its last hidden state.",
            "The engine computes log-probabilities from hidden states in chunks; use another architecture.",
        )
    refuse_randomness(held)
    return trunk


@torch.no_grad()
def refuse_randomness(held: LoadedModel) -> None:
    """Refuses a model that computes something else each time, in the mode that it trains in."""
    tokens = torch.arange(min(12, held.max_positions or 12), device=held.device)[None] % held.vocab_size
    with held.active_adapter():
        first, second = (held.module(input_ids=tokens, use_cache=False).logits.float() for _ in range(2))
    difference = float((first - second).abs().max() / second.abs().max().clamp_(min=1.0))
    # On a GPU sums may be taken in another order.
    if difference > (0.0 if held.device.type == "cpu" else TOLERANCE[held.dtype]):
        raise EngineError(
            "OPTIONS_INVALID",
            f"Two passes of '{held.config.model_type}' over the same tokens differ by {difference:.2g}: it draws "
            "random numbers, so the ratio of an update to what was sampled would not begin at 1.",
            "Switch gradient_checkpointing off, or use another architecture.",
        )


@torch.no_grad()
def probe_difference(held: LoadedModel, trunk: Trunk) -> float:
    """Largest relative difference between the trunk's logits and the module's own, over a short shared-prefix probe."""
    length = min(12, held.max_positions or 12)
    tokens = (np.arange(2 * length, dtype=np.int32).reshape(2, length) * 7 + 3) % held.vocab_size
    tokens[1, : length - 2] = tokens[0, : length - 2]
    last = np.asarray([length - 1])
    unit = TokenUnit(0, tuple(TokenSequence(row, last) for row in tokens))
    run = trunk.forward([unit], True, False)
    ours = logits_head(held)(run.hidden)[run.rows.final_row]
    with held.active_adapter(), adapters_in_use(held.module) as unused:
        inputs = torch.from_numpy(tokens.astype(np.int64)).to(held.device)
        theirs = held.module(input_ids=inputs, use_cache=False).logits[:, -1].float()
    if held.has_adapter and unused():
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{held.config.model_type}' reads the weights of {', '.join(unused())} past their adapters, "
            "which would learn nothing.",
            "Name the other linear layers in target_modules.",
        )
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_(min=1.0))
