"""Records of the models that were fetched or converted."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mrlm_engine.errors import EngineError

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class StoredModel:
    """A complete model on this machine."""

    # `hub:ORG/NAME`, or the name of a GGUF file without its ending.
    name: str
    # Branch, tag or commit that was asked for; of a GGUF file what identifies its converter.
    revision: str
    # Commit of the repository, or SHA-256 of the GGUF file and of the chat template beside it.
    commit: str
    licence: str
    directory: str
    # Sizes in bytes by name. Contents were checked when the record was written.
    files: dict[str, int]
    # Time of the record, ISO 8601.
    fetched: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())

    def is_complete(self) -> bool:
        """Whether every file is present with its size."""
        sizes = ((Path(self.directory) / name, size) for name, size in self.files.items())
        return all(path.is_file() and path.stat().st_size == size for path, size in sizes)


class ModelStore:
    """Directory with a record of each model, and the converted models. The record is written last: it is the end."""

    def __init__(self, root: Path, report: Report) -> None:
        self.root = root
        self.report = report

    def all(self) -> list[StoredModel]:
        """Returns the complete models, the newest first."""
        found = []
        for path in self.root.glob("*.json"):
            try:
                model = StoredModel(**json.loads(path.read_text("utf-8")))
            except (OSError, ValueError, TypeError):
                continue  # Written by another version, or removed meanwhile: the model is fetched again.
            if model.is_complete():
                found.append(model)
        return sorted(found, key=lambda model: model.fetched, reverse=True)

    def find(self, name: str, revision: str) -> StoredModel | None:
        """Returns the newest model of this name and revision. A commit or its beginning is a revision too."""
        return next(
            (
                model
                for model in self.all()
                if model.name == name and (revision == model.revision or _begins(model.commit, revision))
            ),
            None,
        )

    def write(self, model: StoredModel) -> StoredModel:
        """Records a model whose files are complete."""
        path = self._record(model)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps(asdict(model), indent=2), "utf-8")
        partial.replace(path)
        return model

    def remove(self, name: str) -> list[StoredModel]:
        """Deletes the files of the models with this name, `NAME@REVISION` or directory. Returns them."""
        models = [
            m for m in self.all() if name in (m.name, f"{m.name}@{m.revision}", f"{m.name}@{m.commit}", m.directory)
        ]
        if not models:
            raise EngineError(
                "MODEL_DIRECTORY_MISSING", f"No model '{name}' is stored.", "`mrlm models list` prints the names."
            )
        for model in models:
            self.forget(model)
        kept = {model.commit for model in self.all()}
        for model in models:
            if model.commit not in kept:
                _delete_files(model)
        return models

    def forget(self, model: StoredModel) -> None:
        """Deletes the record of a model, not its files."""
        self._record(model).unlink(missing_ok=True)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Holds the lock of a model between processes. The operating system releases that of a process that ended."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.root / f"{plain(key)}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            self.notice(f"another process is fetching {key}; waiting for it")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def notice(self, text: str) -> None:
        """Prints a line for the user."""
        self.report({"notice": text})

    def _record(self, model: StoredModel) -> Path:
        return self.root / f"{plain(f'{model.name}@{model.revision}@{model.commit[:12]}')}.json"


def plain(name: str) -> str:
    """Returns a name that is a file name on every system."""
    return re.sub(r"[^A-Za-z0-9._@-]", "--", name)


def check_disk(directory: Path, needed: int, variable: str) -> None:
    """Refuses a download or conversion that the disk has no room for."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise disk_full(f"{needed / 1e9:.2f} GB are needed in {directory}, and {free / 1e9:.2f} GB are free.", variable)


def disk_full(message: str, variable: str) -> EngineError:
    """Returns the error of a disk without room."""
    hint = f"Free some space (`mrlm models remove NAME`), or set {variable} to a directory on a larger disk."
    return EngineError("MODEL_DOWNLOAD_FAILED", message, hint)


def is_disk_full(error: BaseException) -> bool:
    """Whether an error, or one that caused it, is that of a full disk or quota."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _begins(commit: str, revision: str) -> bool:
    return len(revision) >= 7 and commit.startswith(revision)


def _delete_files(model: StoredModel) -> None:
    if not model.name.startswith("hub:"):
        shutil.rmtree(model.directory, ignore_errors=True)
        return
    from huggingface_hub import scan_cache_dir

    # Deletes the snapshot and the blobs that no other snapshot names.
    scan_cache_dir(Path(model.directory).parents[2]).delete_revisions(model.commit).execute()
