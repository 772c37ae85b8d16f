"""Tokenizer files, which are copied with a model byte for byte."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from mrlm_engine.errors import EngineError

# Names of tokenizer files in Hugging Face directories.
TOKENIZER_FILE_NAMES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "tokenizer.model",
    "spiece.model",
)


def read_tokenizer_files(directory: Path) -> dict[str, bytes]:
    """Reads the tokenizer files of `directory`, by name."""
    return {name: (directory / name).read_bytes() for name in TOKENIZER_FILE_NAMES if (directory / name).is_file()}


def write_tokenizer_files(files: dict[str, bytes], directory: Path) -> list[str]:
    """Writes `files` into `directory`. Returns their names, sorted."""
    for name, content in files.items():
        (directory / name).write_bytes(content)
    return sorted(files)


def check_tokenizer_files(files: dict[str, bytes]) -> dict[str, bytes]:
    """Refuses names with a directory, because the files are written to the directory of the model."""
    for name in files:
        if not name or PurePosixPath(name).name != name or "\\" in name or name in (".", ".."):
            raise EngineError(
                "OPTIONS_INVALID",
                f"'{name}' is not a plain file name for a tokenizer file.",
                "Send tokenizer files by name, such as 'tokenizer.json'.",
            )
    return dict(files)
