"""The command for a lent GPU runs on a CPU with small models, and finds figures outside their limits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from load_file import load_file

SCRIPT = Path(__file__).resolve().parents[1] / "scripts/gpu.py"


def test_figures_that_are_missing_or_outside_their_limits_are_named(tmp_path: Path) -> None:
    script = load_file(SCRIPT)
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
    script = load_file(SCRIPT)
    assert result["outside"] == []
    # Every figure with a limit exists on a CPU too, except for that of a known GPU's peak.
    assert set(result["figures"]) >= (set(script.CORRECT) | set(script.ON_GPU)) - {"mfu"}
    assert (tmp_path / "profile/learn.txt").exists()
