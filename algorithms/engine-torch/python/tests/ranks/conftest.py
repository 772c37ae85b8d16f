"""Engines of two ranks that tests of several files share: starting one takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rank_processes import RankedEngine, ranked_engine


@pytest.fixture(scope="session", params=["ddp", "fsdp"])
def processes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RankedEngine]:
    with ranked_engine(request.param, tmp_path_factory.mktemp(request.param) / "engine.log") as engine:
        yield engine


@pytest.fixture
def ranked(processes: RankedEngine) -> Iterator[RankedEngine]:
    """Yields the shared engine, without models before and after each test, also after one that failed."""
    yield processes
    if processes.process.poll() is None:
        processes.release_models()
