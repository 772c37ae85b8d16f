"""Recognition and reporting of exhausted memory."""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from mrlm_engine.errors import EngineError

Result = TypeVar("Result")

# Messages of exhausted memory in exceptions other than OutOfMemoryError and MemoryError: of the CPU allocator, CUDA
# outside the caching allocator, cuBLAS' workspace, oneDNN, and the C++ library.
_PHRASES = (
    "can't allocate memory",
    "cannot allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "out of memory",
    "could not create a primitive",
    "could not create a memory",
    "std::bad_alloc",
)


def is_out_of_memory(cause: BaseException) -> bool:
    """Whether `cause` reports a failed allocation, on any device."""
    if isinstance(cause, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(cause, RuntimeError) and any(phrase in str(cause) for phrase in _PHRASES)


def release_memory() -> None:
    """Frees unreferenced memory. Call it outside exception handlers, where the exception's frames keep references."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        # The C library is not glibc.
        return


def out_of_memory(what: str, hint: str) -> EngineError:
    """Creates the error for memory that ran out during `what`."""
    return EngineError("OUT_OF_MEMORY", f"Memory ran out {what.removesuffix('.')}.", hint)


HINT = (
    "Lower model.micro_batch_tokens or sampling.max_sequence_tokens, set model.gradient_checkpointing, train an "
    "adapter (model.lora), use bfloat16, or divide the model over more processes (distributed: fsdp)."
)


def memory_checked(work: Callable[..., Result]) -> Callable[..., Result]:
    """Wraps work of a rank: raises OUT_OF_MEMORY for a failed allocation, so that it can be repeated in smaller parts.

    With sharded weights the other ranks wait for this one in a collective, and only the exit of this process releases
    them.
    """

    @functools.wraps(work)
    def wrapped(state: Any, model_id: str, *arguments: Any) -> Result:
        try:
            return work(state, model_id, *arguments)
        except (MemoryError, RuntimeError) as cause:
            if not is_out_of_memory(cause):
                raise
            reason = first_line(cause)
        # Outside the handler the exception no longer references the frames with the tensors.
        release_memory()
        error = out_of_memory(f"in a pass of '{model_id}' ({reason})", HINT)
        if state.trainable_model(model_id).model.mesh is not None:
            raise MemoryError(str(error))
        raise error

    return wrapped


def first_line(cause: BaseException) -> str:
    """Returns the first line of an exception's message, without its full stop."""
    return (str(cause).splitlines() or [type(cause).__name__])[0].strip().rstrip(".") or type(cause).__name__
