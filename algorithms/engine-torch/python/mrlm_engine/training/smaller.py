"""Choice of a smaller budget after memory ran out in a micro-batch."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mrlm_engine.batching.plan import RankShard
from mrlm_engine.compute.out_of_memory import HINT, out_of_memory
from mrlm_engine.errors import EngineError
from mrlm_engine.training.trainable_model import TrainableModel

log = logging.getLogger(__name__)


def smaller_budget(
    trainable: TrainableModel,
    shards: Sequence[RankShard],
    final_value: bool,
    waiting: int,
    cause: EngineError,
    *,
    once: bool,
) -> tuple[int, int]:
    """Returns a token budget and a number of waiting graphs that take less memory than `shards` and the graphs
    beside them.

    Half of the tokens computed at once; for a single sequence fewer graphs; without other graphs OUT_OF_MEMORY.
    """
    model_id = trainable.model.model_id
    tokens, sequences = trainable.largest_pass(shards, final_value, once=once)
    if sequences > 1:
        log.warning("model %s: %s Trying again with %d tokens at once", model_id, cause.message, tokens // 2)
        return tokens // 2, trainable.max_waiting
    if waiting:
        log.warning("model %s: %s Trying again with one micro-batch at a time", model_id, cause.message)
        return trainable.model.micro_batch_tokens, 1
    raise out_of_memory(f"for one sequence of {tokens} tokens of '{model_id}' by itself. {cause.message}", HINT)
