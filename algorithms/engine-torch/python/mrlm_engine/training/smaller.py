"""What to try next when memory ran out in a micro-batch."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mrlm_engine.batching.plan import Share
from mrlm_engine.compute.out_of_memory import HINT, out_of_memory
from mrlm_engine.errors import EngineError
from mrlm_engine.training.trainable_model import TrainableModel

log = logging.getLogger(__name__)


def smaller_budget(
    learner: TrainableModel, shares: Sequence[Share], final_value: bool, waiting: int, cause: EngineError
) -> tuple[int, int]:
    """A token budget and a number of waiting graphs that take less memory than `shares` and the graphs beside them.

    Half of what was computed at once; where that was one sequence, fewer graphs; where it was alone, OUT_OF_MEMORY.
    """
    model_id = learner.held.model_id
    tokens, sequences = learner.largest_pass(shares, final_value)
    if sequences > 1:
        log.warning("model %s: %s Trying again with %d tokens at once", model_id, cause.message, tokens // 2)
        return tokens // 2, learner.max_waiting
    if waiting:
        log.warning("model %s: %s Trying again with one micro-batch at a time", model_id, cause.message)
        return learner.held.micro_batch_tokens, 1
    raise out_of_memory(f"for one sequence of {tokens} tokens of '{model_id}' by itself. {cause.message}", HINT)
