"""The command for a lent GPU runs on a CPU with small models, and finds figures outside their limits."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts/gpu.py"


def load_script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("gpu_script", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_figures_that_are_missing_or_outside_their_limits_are_named(tmp_path: Path) -> None:
    script = load_script()
    limits = {"low": (1, None), "high": (None, 1), "missing": (0, 0), "nan": (None, 1), "fine": (0, 1)}
    found = {"low": 0.5, "high": 2.0, "nan": float("nan"), "fine": 0.5, "other": 9.0}
    assert script.outside(found, limits) == ["low", "high", "missing", "nan"]
    # A part that ended early has printed nothing: its figures are missing.
    (tmp_path / "figures.log").write_text("Traceback\n")
    assert script.gather(tmp_path) == ("unknown", {})


@pytest.mark.slow
def test_all_parts_run_on_a_cpu(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--device", "cpu", "--small", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    script = load_script()
    assert result["outside"] == []
    # Every figure with a limit exists on a CPU too, except for that of a known GPU's peak.
    assert set(result["figures"]) >= (set(script.CORRECT) | set(script.ON_GPU)) - {"mfu"}
    assert (tmp_path / "profile/learn.txt").exists()
