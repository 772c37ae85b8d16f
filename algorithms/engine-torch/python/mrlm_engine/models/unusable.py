"""Failures of a model that follow from its configuration, as errors that say so."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.memory.exhausted import first_line, is_out_of_memory

log = logging.getLogger(__name__)


@contextlib.contextmanager
def unusable_configuration(request: pb.CreateModelRequest) -> Iterator[None]:
    """Turns whatever a model class raises inside into the error of a model that cannot be made or cannot compute.

    Model classes check few of their numbers: sizes of 0, negative ones and heads that do not fit fail somewhere in the
    first pass, each in its own way. Errors of the engine and memory that ran out pass unchanged.
    """
    try:
        yield
    except EngineError:
        raise
    except Exception as cause:
        source = request.WhichOneof("source")
        if is_out_of_memory(cause) or source not in ("directory", "random"):
            raise
        log.warning("model %s cannot be used", request.model_id, exc_info=cause)
        what = f"of '{request.directory}' " if source == "directory" else ""
        raise EngineError(
            "MODEL_DIRECTORY_INVALID" if source == "directory" else "OPTIONS_INVALID",
            f"The model {what}cannot compute: {type(cause).__name__}: {first_line(cause)}.",
            "Correct the sizes in its configuration: vocabulary, hidden size, layers, heads, positions.",
        ) from cause
