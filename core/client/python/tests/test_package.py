"""Installation of the package from a clone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1]


def test_n21_a_build_leaves_no_folder_in_the_sources(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    clone = tmp_path / "python"
    shutil.copytree(SOURCES, clone, ignore=shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__", ".*"))
    before = sorted(path.name for path in clone.iterdir())
    subprocess.run([sys.executable, "setup.py", "-q", "build"], cwd=clone, check=True)
    assert sorted(path.name for path in clone.iterdir()) == before
