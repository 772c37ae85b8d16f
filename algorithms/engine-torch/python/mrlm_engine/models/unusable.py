"""Errors for failures of a model that follow from its configuration."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from mrlm_engine.compute.out_of_memory import first_line, is_out_of_memory
from mrlm_engine.errors import EngineError
from mrlm_engine.models.request import FromDirectory, FromRandom, ModelRequest

log = logging.getLogger(__name__)


@contextlib.contextmanager
def unusable_configuration(request: ModelRequest) -> Iterator[None]:
    """Converts exceptions of a model class into the error of a model that cannot be created or computed.

    Model classes check few of their sizes: zero, negative sizes and heads that do not fit fail at some point of the
    first pass with various exceptions. Errors of the engine and exhausted memory propagate unchanged.
    """
    try:
        yield
    except EngineError:
        raise
    except Exception as cause:
        source = request.source
        if is_out_of_memory(cause) or not isinstance(source, (FromDirectory, FromRandom)):
            raise
        log.warning("model %s cannot be used", request.model_id, exc_info=cause)
        what = f"of '{source.path}' " if isinstance(source, FromDirectory) else ""
        raise EngineError(
            "MODEL_DIRECTORY_INVALID" if isinstance(source, FromDirectory) else "OPTIONS_INVALID",
            f"The model {what}cannot compute: {type(cause).__name__}: {first_line(cause)}.",
            "Correct the sizes in its configuration: vocabulary, hidden size, layers, heads, positions.",
        ) from cause
