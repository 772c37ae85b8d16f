"""Tokenizer files, which are copied with a model byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

from mrlm_engine.errors import EngineError
from mrlm_engine.tokenizer_names import TEMPLATE_FOLDER, TOKENIZER_FILE_NAMES

_NAME = re.compile(rf"({TEMPLATE_FOLDER}/)?(?!\.\.?$)[^/\\\0]+")


def read_tokenizer_files(directory: Path) -> dict[str, bytes]:
    """Reads the tokenizer files of `directory`, by name."""
    templates = sorted(f"{TEMPLATE_FOLDER}/{path.name}" for path in (directory / TEMPLATE_FOLDER).glob("*.jinja"))
    names = [*TOKENIZER_FILE_NAMES, *templates]
    return {name: (directory / name).read_bytes() for name in names if (directory / name).is_file()}


def write_tokenizer_files(files: dict[str, bytes], directory: Path) -> list[str]:
    """Writes `files` into `directory`. Returns their names, sorted."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return sorted(files)


def check_tokenizer_files(files: dict[str, bytes]) -> dict[str, bytes]:
    """Refuses names outside the directory of the model, where the files are written, and its folder of templates."""
    for name in files:
        if _NAME.fullmatch(name) is None:
            raise EngineError(
                "OPTIONS_INVALID",
                f"'{name}' is not a plain file name for a tokenizer file.",
                "Send tokenizer files by name, such as 'tokenizer.json'.",
            )
    return dict(files)
