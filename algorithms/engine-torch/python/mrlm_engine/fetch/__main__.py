"""`python -m mrlm_engine.fetch --cache DIRECTORY get NAME [--no-weights] | list | remove NAME`.

Prints JSON lines: `{"notice": text}`, `{"progress": {"done": bytes, "total": bytes, "seconds": left}}`, and at the end
`{"models": [...]}` or `{"failed": {"code", "message", "hint"}}`. Ends when its standard input closes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mrlm_engine.errors import EngineError
from mrlm_engine.fetch.store import ModelStore, StoredModel
from mrlm_engine.lifetime import exit_with_parent

_HUB_NAME = re.compile(r"hub:(?P<repository>[\w.-]+/[\w.-]+)(@(?P<revision>[^@]+))?", re.ASCII)


def main() -> int:
    """Runs one command. Returns 1 after a failure that was printed."""
    parser = argparse.ArgumentParser(prog="mrlm_engine.fetch")
    parser.add_argument("--cache", type=Path, required=True, help="directory of records and converted models")
    parser.add_argument("command", choices=("get", "list", "remove"))
    parser.add_argument("name", nargs="?", default="", help="hub:ORG/NAME[@REVISION] or the path of a GGUF file")
    parser.add_argument("--no-weights", action="store_true", help="get: leave out the weights of a model of the hub")
    given = parser.parse_args()
    exit_with_parent()
    # Output of libraries must not be confused with the JSON lines.
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def report(event: dict[str, Any]) -> None:
        lines.write(json.dumps(event) + "\n")

    try:
        store = ModelStore(given.cache, report)
        if given.command == "get":
            models = [get(given.name, store, needs_weights=not given.no_weights)]
        else:
            models = store.all() if given.command == "list" else store.remove(given.name)
    except EngineError as error:
        report({"failed": {"code": error.code, "message": error.message, "hint": error.hint}})
        return 1
    report({"models": [{**asdict(model), "bytes": model.size} for model in models]})
    return 0


def get(name: str, store: ModelStore, *, needs_weights: bool = True) -> StoredModel:
    """Returns the model of a name, which is fetched or converted unless the store has it."""
    if not name.startswith("hub:"):
        from mrlm_engine.fetch.gguf import get_from_gguf

        return get_from_gguf(Path(name), store)
    match = _HUB_NAME.fullmatch(name)
    if match is None:
        raise EngineError(
            "MODEL_DOWNLOAD_FAILED",
            f"'{name}' names no model of the hub.",
            "Write hub:ORG/NAME or hub:ORG/NAME@REVISION.",
        )
    from mrlm_engine.fetch.hub import get_from_hub

    return get_from_hub(match["repository"], match["revision"] or "main", store, needs_weights=needs_weights)


if __name__ == "__main__":
    status = main()
    # Threads of a download that has failed may still wait for the hub.
    os._exit(status)
