"""Error codes of the engine are those that clients know."""

from __future__ import annotations

import re
from pathlib import Path

from mrlm_engine.errors import ERROR_STATUS, EngineError
from mrlm_engine.gen.mrlm.common.v1 import error_pb2
from mrlm_engine.service.codec.errors import error_detail

CATALOGUE = Path(__file__).resolve().parents[4] / "core/spec/src/errors"
# Raised before a client of ours would ever get so far.
OWN = {"UNAUTHENTICATED"}


def test_every_code_is_in_the_catalogue() -> None:
    known = set(
        re.findall(
            r"^  ([A-Z_]+): \{",
            "".join(file.read_text("utf-8") for file in CATALOGUE.glob("*codes.ts")),
            flags=re.MULTILINE,
        )
    )
    assert set(ERROR_STATUS) - known - OWN == set()


def test_detail_carries_everything() -> None:
    error = EngineError("OUT_OF_MEMORY", "What happened.", "What to do.", retryable=True, retry_delay_ms=7)
    detail = error_pb2.ErrorDetail.FromString(error_detail(error))
    assert (detail.code, detail.message, detail.hint) == ("OUT_OF_MEMORY", "What happened.", "What to do.")
    assert (detail.retryable, detail.retry_delay_ms) == (True, 7)
