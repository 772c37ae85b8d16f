"""Memory that ran out: how it is recognised, and how it is told."""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from mrlm_engine.errors import EngineError

Result = TypeVar("Result")

# What torch and its libraries say when memory runs out under another type than OutOfMemoryError or MemoryError: the
# CPU allocator, CUDA outside the caching allocator, cuBLAS' workspace, oneDNN, the C++ library.
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
    """Whether `cause` says that an allocation failed, on whichever device."""
    if isinstance(cause, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(cause, RuntimeError) and any(phrase in str(cause) for phrase in _PHRASES)


def release_memory() -> None:
    """Gives back what nothing refers to any more; not for inside a handler, where the exception's frames still do."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        # Not glibc.
        return


def out_of_memory(what: str, hint: str) -> EngineError:
    """The error for memory that ran out while `what` happened."""
    return EngineError("OUT_OF_MEMORY", f"Memory ran out {what.removesuffix('.')}.", hint)


HINT = (
    "Lower model.micro_batch_tokens or sampling.max_sequence_tokens, set model.gradient_checkpointing, train an "
    "adapter (model.lora), use bfloat16, or divide the model over more processes (distributed: fsdp)."
)


def memory_checked(work: Callable[..., Result]) -> Callable[..., Result]:
    """Work of a rank whose failing allocation is told as OUT_OF_MEMORY, so that it can be done in smaller parts.

    Where weights are divided among the ranks the others wait for this one in a collective, and only the end of this
    process frees them.
    """

    @functools.wraps(work)
    def wrapped(state: Any, model_id: str, *arguments: Any) -> Result:
        try:
            return work(state, model_id, *arguments)
        except (MemoryError, RuntimeError) as cause:
            if not is_out_of_memory(cause):
                raise
            told = first_line(cause)
        # Outside the handler, where the exception no longer holds the frames that hold the tensors.
        release_memory()
        error = out_of_memory(f"in a pass of '{model_id}' ({told})", HINT)
        if state.trainable_model(model_id).model.mesh is not None:
            raise MemoryError(str(error))
        raise error

    return wrapped


def first_line(cause: BaseException) -> str:
    """The first line of an exception's words, without its full stop."""
    return (str(cause).splitlines() or [type(cause).__name__])[0].strip().rstrip(".") or type(cause).__name__
