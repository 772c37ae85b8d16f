"""Directories that exist only when they are complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mrlm_engine.errors import EngineError


@contextlib.contextmanager
def atomic_directory(target: Path) -> Iterator[Path]:
    """A directory beside `target` to write into; it takes the target's place when the block ends without an error.

    Files and names are flushed to disk first, so that a crash leaves the old directory, the new one or
    none, never a part.
    """
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        yield partial
        for file in partial.rglob("*"):
            if file.is_file():
                _flush(file)
        _replace(partial, target)
        _flush(target.parent)
    except OSError as cause:
        raise EngineError(
            "ENGINE_FAILED",
            f"'{target}' could not be written: {cause}.",
            "Check its path, its rights and the disk space.",
        ) from cause
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _replace(partial: Path, target: Path) -> None:
    if not target.exists():
        partial.rename(target)
        return
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    shutil.rmtree(old, ignore_errors=True)
    target.rename(old)
    partial.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
