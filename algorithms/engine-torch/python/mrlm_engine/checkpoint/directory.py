"""Directories that exist only when they are complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from mrlm_engine.errors import EngineError


@contextlib.contextmanager
def atomic_directory(target: Path) -> Iterator[Path]:
    """A directory beside `target` to write into; it takes the target's place when the block ends without an error.

    Files and names are flushed to disk first, so that a crash leaves the old directory, the new one or
    none, never a part.
    """
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        _remove_leftovers(target)
        partial.mkdir(parents=True)
        yield partial
        for path in partial.rglob("*"):
            _flush(path)
        _flush(partial)
        _replace(partial, target)
        _flush(target.parent)
    except (OSError, SafetensorError) as cause:
        raise EngineError(
            "WRITE_FAILED",
            f"'{target}' could not be written: {cause}.",
            "Make room, or check its path and its rights; what was written before is complete.",
        ) from cause
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_leftovers(target: Path) -> None:
    """What engines that were killed while they wrote `target` have left beside it."""
    for name in ("partial", "old"):
        for path in target.parent.glob(f".{target.name}.{name}-*"):
            shutil.rmtree(path, ignore_errors=True)


def _replace(partial: Path, target: Path) -> None:
    if not target.exists():
        partial.rename(target)
        return
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    target.rename(old)
    partial.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
