"""Atomic creation of directories: a directory exists only when it is complete."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from mrlm_engine.errors import EngineError

# Files whose field `files` lists the contents of a directory of the engine: of a checkpoint, and of an export.
MANIFEST = "manifest.json"
EXPORT_LIST = "mrlm_export.json"


@contextlib.contextmanager
def atomic_directory(target: Path) -> Iterator[Path]:
    """Yields a temporary directory beside `target`, which replaces `target` when the block ends without an error.

    Replaces only an empty directory, or one that contains only files of the engine; raises DIRECTORY_OCCUPIED for
    others. Files and names are flushed to disk first, so that a crash leaves the old directory, the new one or none,
    never a part.
    """
    check_replaceable(target)
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        _remove_leftovers(target)
        partial.mkdir(parents=True)
        yield partial
        for path in partial.rglob("*"):
            _flush(path)
        _flush(partial)
        # Checked again, because another process may have written there meanwhile.
        check_replaceable(target)
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


def check_replaceable(target: Path) -> None:
    """Refuses a target whose replacement would delete files that the engine did not write."""
    foreign = _foreign(target)
    if foreign is not None:
        raise EngineError(
            "DIRECTORY_OCCUPIED",
            f"'{target}' {foreign}, and writing there would replace it.",
            "Name a directory that does not exist, or move what is there. The engine replaces its own checkpoints and "
            "exports only.",
        )


def _foreign(target: Path) -> str | None:
    """Returns the reason why `target` must not be replaced; None if it may be."""
    if not target.name:
        return "is the root of a file system"
    try:
        if not target.is_symlink() and not target.exists():
            return None
        if target.is_symlink() or not target.is_dir():
            return "is no directory"
        first = next(target.iterdir(), None)
        if first is None:
            return None
        listed = _listed(target)
        if listed is None:
            return f"holds '{first.name}', and is no checkpoint or export of the engine"
        for path in target.rglob("*"):
            if (path.is_symlink() or not path.is_dir()) and str(path.relative_to(target)) not in listed:
                return f"holds '{path.relative_to(target)}', which the engine did not write"
    except OSError as cause:
        return f"cannot be read ({cause.strerror})"
    return None


def _listed(directory: Path) -> set[str] | None:
    """Returns the names of the files that a directory of the engine lists, with the list itself; None for other
    directories.
    """
    for name in (MANIFEST, EXPORT_LIST):
        if not (directory / name).is_file():
            continue
        try:
            content = json.loads((directory / name).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(content, dict) and "format" in content and isinstance(content.get("files"), (dict, list)):
            return {name, *(file for file in content["files"] if isinstance(file, str))}
    return None


def _remove_leftovers(target: Path) -> None:
    """Removes temporary directories of engines that were killed while they wrote `target`."""
    for name in ("partial", "old"):
        for path in target.parent.glob(f".{glob.escape(target.name)}.{name}-*"):
            # The whole name must match: other directories may begin with the same text.
            if path.name.rpartition("-")[2].isdecimal():
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
