"""Downloads a model of the Hugging Face Hub through huggingface_hub, into its cache.

Every file is compared with the size and the hash that the hub states for the commit: huggingface_hub compares sizes
alone. A model counts once its record is written, after the last comparison.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
from huggingface_hub import HfApi, constants, hf_hub_download

from mrlm_engine.errors import EngineError
from mrlm_engine.fetch.hub_errors import explain_hub_error
from mrlm_engine.fetch.selection import Selection, check_model, shards_of
from mrlm_engine.fetch.store import ModelStore, StoredModel, check_disk, disk_full, is_disk_full

# Files that are downloaded at the same time.
_CONNECTIONS = 4
# A file whose content is not that of the commit is downloaded a second time.
_ATTEMPTS = 2
# Bytes that may arrive for a file, in multiples of its size.
_MOST_TIMES = 5


@dataclass(frozen=True)
class HubFile:
    """File of a commit."""

    name: str
    size: int
    # Hexadecimal; SHA-256 of the content for large files, otherwise the SHA-1 of git's blob.
    digest: str
    is_large: bool


def get_from_hub(repository: str, revision: str, store: ModelStore, *, needs_weights: bool = True) -> StoredModel:
    """Returns the model of a revision, which is downloaded unless the store has its commit.

    Without an answer of the hub the newest stored commit of the revision is used. A model without its weights does not
    count as stored.
    """
    name = f"hub:{repository}"
    stored = store.find(name, revision)
    if stored is not None and stored.commit == revision:
        return stored
    try:
        with _explained(repository, revision):
            info = HfApi().model_info(
                repository, revision=revision, files_metadata=True, timeout=constants.HF_HUB_ETAG_TIMEOUT
            )
            commit, files = str(info.sha), _files_of(info.siblings or [])
    except EngineError as error:
        if stored is None:
            raise
        store.notice(f"{error.message} The stored commit {stored.commit[:12]} of {name} is used.")
        return stored
    with store.lock(name):
        known = store.find(name, commit)
        if known is not None:
            return known if known.revision == revision else store.write(_renamed(known, revision))
        licence = _licence(info)
        with _explained(repository, revision):
            model = _download(repository, revision, commit, files, licence, store, needs_weights)
            return store.write(model) if needs_weights else model


def _download(
    repository: str,
    revision: str,
    commit: str,
    files: dict[str, HubFile],
    licence: str,
    store: ModelStore,
    needs_weights: bool,
) -> StoredModel:
    selection = Selection.of(repository, files)
    progress = _Progress(store)

    def fetch(names: list[str]) -> dict[str, Path]:
        chosen = [files[name] for name in names]
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            return dict(
                zip(names, pool.map(lambda file: _fetch(repository, commit, file, progress), chosen), strict=True)
            )

    paths = fetch(selection.small)
    check_model(repository, paths)
    if needs_weights:
        weights = selection.weights or shards_of(repository, paths[selection.index], files)
        size = sum(files[name].size for name in weights)
        check_disk(Path(constants.HF_HUB_CACHE), size, "HF_HOME")
        store.notice(f"fetching hub:{repository}, commit {commit[:12]}: {size / 1e6:.0f} MB, licence {licence}")
        progress.begin(size)
        paths |= fetch(weights)
    # Named by the commit, as huggingface_hub lays its cache out.
    directory = paths["adapter_config.json" if "adapter_config.json" in paths else "config.json"].parent
    if directory.name != commit:
        raise EngineError(
            "MODEL_DOWNLOAD_FAILED",
            f"The hub was asked for commit {commit} of {repository}, and sent files of {directory.name}.",
            f"Check HF_ENDPOINT ({constants.ENDPOINT}): a mirror may be out of date. Then try again.",
        )
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    sizes = {name: files[name].size for name in paths}
    return StoredModel(f"hub:{repository}", revision, commit, licence, str(directory), sizes, now)


def _fetch(repository: str, commit: str, file: HubFile, progress: _Progress) -> Path:
    """Downloads a file whose content is that of the commit. One that the cache has is compared too."""
    fault = ""
    for attempt in range(_ATTEMPTS):
        try:
            # The class of the progress bar is only ever called.
            bar: Any = progress.bar
            path = Path(
                hf_hub_download(repository, file.name, revision=commit, force_download=attempt > 0, tqdm_class=bar)
            )
        except httpx2.ReadError:  # huggingface_hub repeats after other ends of a connection, and not after its reset.
            if attempt + 1 == _ATTEMPTS:
                raise
            continue
        except OSError as error:
            if "Consistency check" not in str(error):
                raise
            fault = str(error).splitlines()[0].removeprefix("Consistency check failed: ")
            continue
        fault = _fault_of(path, file)
        if not fault:
            return path
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    raise EngineError(
        "MODEL_DOWNLOAD_FAILED",
        f"{file.name} of {repository} arrived damaged, {_ATTEMPTS} times: {fault}. It was deleted.",
        f"A mirror or proxy alters files: check HF_ENDPOINT ({constants.ENDPOINT}) and HTTPS_PROXY. Then try again.",
    )


def _fault_of(path: Path, file: HubFile) -> str:
    size = path.stat().st_size
    if size != file.size:
        return f"it has {size} bytes instead of {file.size}"
    digest = hashlib.sha256() if file.is_large else hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return "" if digest.hexdigest() == file.digest else f"its hash is {digest.hexdigest()} instead of {file.digest}"


def _files_of(siblings: list[Any]) -> dict[str, HubFile]:
    found = {}
    for each in siblings:
        is_large = each.lfs is not None
        size, digest = (each.lfs.size, each.lfs.sha256) if is_large else (each.size, each.blob_id)
        if isinstance(size, int) and isinstance(digest, str):
            found[each.rfilename] = HubFile(each.rfilename, size, digest.lower(), is_large)
    return found


def _licence(info: Any) -> str:
    card = info.card_data or {}
    return str(card.get("license_name") or card.get("license") or "unknown")


def _renamed(model: StoredModel, revision: str) -> StoredModel:
    return StoredModel(model.name, revision, model.commit, model.licence, model.directory, model.files, model.fetched)


@contextmanager
def _explained(repository: str, revision: str) -> Iterator[None]:
    try:
        yield
    except EngineError:
        raise
    except Exception as error:  # huggingface_hub raises errors of its own, of its HTTP client and of JSON.
        if is_disk_full(error):
            message = f"The disk is full: {repository} could not be written to {constants.HF_HUB_CACHE}."
            raise disk_full(message, "HF_HOME") from error
        raise explain_hub_error(error, repository, revision) from error


class _Progress:
    """Bytes of the weights so far. Reports at most once a second."""

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._total = self._done = 0
        self._began = self._reported = time.monotonic()

    def begin(self, total: int) -> None:
        self._total, self._done = total, 0
        self._began = self._reported = time.monotonic()

    def bar(self, *, initial: int = 0, total: int | None = None, desc: str = "", **_: Any) -> _Bar:
        self.add(initial)
        return _Bar(self, total, desc)

    def add(self, count: int) -> None:
        with self._lock:
            self._done += count
            now = time.monotonic()
            if self._total == 0 or now < self._reported + 1:
                return
            self._reported = now
            left = max(0, self._total - self._done)
            seconds = left * (now - self._began) / max(1, self._done)
            self._store.report(
                {"progress": {"done": self._total - left, "total": self._total, "seconds": round(seconds)}}
            )


class _Bar:
    """Progress bar of one file, in the form that huggingface_hub calls."""

    def __init__(self, progress: _Progress, total: int | None, name: str) -> None:
        self._progress = progress
        self._left = None if total is None else _MOST_TIMES * total
        self._name = name

    def update(self, count: int = 1) -> None:
        """Counts bytes. huggingface_hub tries for ever where each connection brings some bytes and begins anew."""
        self._progress.add(count)
        if self._left is None:
            return
        self._left -= max(0, count)
        if self._left < 0:
            raise EngineError(
                "MODEL_DOWNLOAD_FAILED",
                f"The connection for {self._name} breaks off again and again, and the hub begins anew each time.",
                "Check the network and HTTPS_PROXY, then run the same command again: files that are complete are kept.",
            )

    def __enter__(self) -> _Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
