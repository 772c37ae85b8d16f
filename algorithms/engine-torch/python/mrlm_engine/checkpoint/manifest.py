"""The manifest of a checkpoint: its contents, each file with size and SHA-256."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from mrlm_engine.checkpoint.directory import MANIFEST
from mrlm_engine.device import DTYPES
from mrlm_engine.errors import EngineError

FORMAT = 1
_HINT = "Resume from an earlier checkpoint that is complete."


# Fields of a manifest, and of the entry of each model, with their types.
_FIELDS: dict[str, tuple[type, ...]] = {"last_call": (int,), "models": (list,), "files": (dict,)}
_FILE_FIELDS: dict[str, tuple[type, ...]] = {"bytes": (int,), "sha256": (str,)}
_MODEL_FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("folder", "model_id", "dtype"), (str,)),
    **dict.fromkeys(("role", "micro_batch_tokens", "step", "version", "accumulated_calls"), (int,)),
    **dict.fromkeys(("trainable", "float32_head", "gradient_checkpointing", "value_head"), (bool,)),
    "lora": (dict, type(None)),
    "adapter_off": (str, type(None)),
}


def file_digest(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)


def write_manifest(directory: Path, content: dict[str, Any]) -> tuple[int, str]:
    """Writes the manifest of all files of `directory`. Returns their bytes and the SHA-256 of the manifest."""
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
    """Reads the manifest, after a check that all listed files exist and are unchanged."""
    try:
        # Opening a named pipe would block until another process writes into it.
        if not (directory / MANIFEST).is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such file")
        content = json.loads((directory / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as cause:
        raise EngineError(
            "CHECKPOINT_INCOMPLETE", f"'{directory}' holds no readable {MANIFEST}: {cause}.", _HINT
        ) from cause
    fault = _fault(content, {"format": (int,)}, "it")
    if fault:
        raise EngineError("CHECKPOINT_INCOMPLETE", f"The {MANIFEST} of '{directory}' is damaged: {fault}.", _HINT)
    if content["format"] != FORMAT:
        raise EngineError(
            "CHECKPOINT_MISMATCH",
            f"'{directory}' is of format {content.get('format')}; this engine reads {FORMAT}.",
            "Use the engine version that wrote it.",
        )
    fault = _fault(content, _FIELDS, "it") or _fault_of_parts(content)
    if fault:
        raise EngineError("CHECKPOINT_INCOMPLETE", f"The {MANIFEST} of '{directory}' is damaged: {fault}.", _HINT)
    for name, entry in content["files"].items():
        path = directory / name
        size = path.stat().st_size if path.is_file() else -1
        if size != entry["bytes"]:
            found = "is missing" if size < 0 else f"has {size} bytes instead of {entry['bytes']}"
            raise EngineError("CHECKPOINT_INCOMPLETE", f"'{path}' {found}.", _HINT)
        if file_digest(path) != entry["sha256"]:
            raise EngineError("CHECKPOINT_INCOMPLETE", f"'{path}' is not what was written: its SHA-256 differs.", _HINT)
    return dict(content)


def _fault_of_parts(content: dict[str, Any]) -> str:
    """Returns the first fault of the files and models of a manifest; "" without one."""
    faults = [_fault(entry, _FILE_FIELDS, f"file '{name}'") for name, entry in content["files"].items()]
    faults += [f"file '{name}' is outside of it" for name in content["files"] if not _is_inside(name)]
    faults += [_fault(entry, _MODEL_FIELDS, f"model {i}") for i, entry in enumerate(content["models"])]
    if not any(faults):
        entries = content["models"]
        faults += [f"folder {e['folder']} is outside of it" for e in entries if not _is_inside(e["folder"])]
        faults += [f"model {e['model_id']} has dtype '{e['dtype']}'" for e in entries if e["dtype"] not in DTYPES]
    return next((fault for fault in faults if fault), "")


def _fault(entry: Any, fields: dict[str, tuple[type, ...]], what: str) -> str:
    """Returns the first field that `entry` lacks or has with another type; "" without one."""
    if not isinstance(entry, dict):
        return f"{what} is no object"
    for name, types in fields.items():
        if name not in entry:
            return f"{what} has no '{name}'"
        if not isinstance(entry[name], types) or (isinstance(entry[name], bool) and bool not in types):
            return f"'{name}' of {what} is {json.dumps(entry[name])[:40]}"
    return ""


def _is_inside(name: str) -> bool:
    """Whether a relative path stays below its directory."""
    return not os.path.isabs(name) and ".." not in Path(name).parts and "\0" not in name


def _digest(file: Any) -> str:
    """Computes SHA-256 on Python 3.10, which has no file_digest."""
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
