"""The manifest of a checkpoint: what it holds, each file with its size and SHA-256."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from mrlm_engine.errors import EngineError

MANIFEST = "manifest.json"
FORMAT = 1
_HINT = "Resume from an earlier checkpoint that is complete."


def file_digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)


def write_manifest(directory: Path, content: dict[str, Any]) -> tuple[int, str]:
    """Lists every file of `directory` and writes the manifest; bytes of all files, and the manifest's own SHA-256."""
    files: dict[str, dict[str, Any]] = {
        str(path.relative_to(directory)): {"bytes": path.stat().st_size, "sha256": file_digest(path)}
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }
    text = json.dumps({"format": FORMAT, **content, "files": files}, indent=1, sort_keys=True)
    (directory / MANIFEST).write_text(text, "utf-8")
    return sum(entry["bytes"] for entry in files.values()) + len(text.encode()), hashlib.sha256(
        text.encode()
    ).hexdigest()


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest, after checking that every file it lists is there, whole and unchanged."""
    try:
        content = json.loads((directory / MANIFEST).read_text("utf-8"))
        files: dict[str, dict[str, Any]] = content["files"]
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise EngineError(
            "CHECKPOINT_INCOMPLETE", f"'{directory}' holds no readable {MANIFEST}: {cause}.", _HINT
        ) from cause
    if content.get("format") != FORMAT:
        raise EngineError(
            "CHECKPOINT_MISMATCH",
            f"'{directory}' is of format {content.get('format')}; this engine reads {FORMAT}.",
            "Use the engine version that wrote it.",
        )
    for name, entry in files.items():
        path = directory / name
        size = path.stat().st_size if path.is_file() else -1
        if size != entry["bytes"]:
            found = "is missing" if size < 0 else f"has {size} bytes instead of {entry['bytes']}"
            raise EngineError("CHECKPOINT_INCOMPLETE", f"'{path}' {found}.", _HINT)
        if file_digest(path) != entry["sha256"]:
            raise EngineError("CHECKPOINT_INCOMPLETE", f"'{path}' is not what was written: its SHA-256 differs.", _HINT)
    return dict(content)


def _digest(file: Any) -> str:
    """For Python 3.10, which has no file_digest."""
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
