"""Everything that needs a GPU, in one command: tests, figures with their limits, and a profile; under 10 minutes.

    python scripts/gpu.py [--device cuda|cpu] [--small] [--out DIRECTORY] [--vllm PYTHON]

Correctness comes first, then memory and kernels, then speed beside transformers, and beside vLLM where PYTHON has it:
its torch is another one than the engine's. The last line is JSON: {bench, machine, figures, limits, outside}. Exits
with 1 if a part failed, or a figure is missing or outside its limits.

Needs Python with torch >= 2.11, transformers 5, pytest, grpcio, protobuf and safetensors (peft for adapters); no Node
and no network: the models have random weights. `--device cpu --small` tries all of it on a CPU with small models, where
only the limits of correctness apply.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

FOLDER = Path(__file__).resolve().parents[1]
BENCHMARKS = FOLDER.parents[2] / "benchmarks/gpu"
# Longest time of a part on a GPU in seconds.
PART_SECONDS = 300

# (least, most) of each figure; None: no limit.
Limits = dict[str, tuple[float | None, float | None]]
CORRECT: Limits = {
    "tests_failed": (0, 0),
    "tests_passed": (1, None),
    "mismatch_kl": (None, 1e-3),
    "mismatch_largest": (None, 0.15),
    "is_packed": (1, 1),
    "packed_logprob_difference": (None, 0.15),
    "cache_over_limit": (None, 1.05),
    "decode_host_waits": (0, 0),
    "publish_changes_weights": (1, 1),
}
# Of one H100 and the 0.5B model. Those of speed are estimates until a GPU has measured them.
ON_GPU: Limits = {
    "estimate_over_peak": (0.8, 1.2),
    "timed_over_wall": (0.97, 1.03),
    "flash_kernels": (1, None),
    "masked_kernels": (0, 0),
    "decode_launches": (None, 500),
    "prefill_tokens_per_s": (100_000, None),
    "decode_tokens_per_s": (35_000, None),
    "trained_tokens_per_s": (30_000, None),
    "packed_speedup": (1.5, None),
    "float32_head_time_ratio": (None, 1.1),
    "mfu": (0.2, None),
    "publish_seconds": (None, 0.5),
    "sampled_over_generate": (1, None),
    "trained_over_bare": (1, None),
    "seconds": (None, 600),
}


def main() -> int:
    """Runs each part, also after one that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="small models, and no limits of memory and speed")
    parser.add_argument("--vllm", metavar="PYTHON", help="interpreter of an environment with vLLM")
    parser.add_argument("--out", type=Path, default=Path("gpu-results"), help="folder of logs and the profile")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    out = given.out.resolve()
    started = time.perf_counter()
    bench = [str(BENCHMARKS / "bench.py"), "--device", given.device, *(["--tiny"] if given.small else [])]
    figures = [str(FOLDER / "tests/cuda/figures.py"), "--device", given.device, *(["--small"] if given.small else [])]
    parts = {
        "tests": ["-m", "pytest", "-rs", "tests/cuda", f"--junitxml={out / 'tests.xml'}"],
        "figures": figures,
        "profile": [*bench, "--profile", str(out / "profile")],
        "bench": [*bench, "--rounds", "1"],
        "bench-deterministic": [*bench, "--mode", "deterministic", "--rounds", "1"],
    }
    path = os.pathsep.join((str(FOLDER), str(FOLDER / "tests")))
    environment = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"}
    if given.device == "cpu":
        environment["MRLM_CUDA_TESTS"] = "cpu"
    failed = [name for name, command in parts.items() if not run(name, command, out / f"{name}.log", environment)]
    if given.vllm is not None:
        measured = last_line(out / "figures.log")
        sizes = [text for name, value in measured.get("work", {}).items() for text in (f"--{name}", str(value))]
        command = [str(BENCHMARKS / "vllm_speed.py"), measured.get("config", ""), *sizes]
        # Its own packages alone.
        if not run("vllm", command, out / "vllm.log", {**environment, "PYTHONPATH": ""}, python=given.vllm):
            failed.append("vllm")
    device, found = gather(out)
    found["seconds"] = time.perf_counter() - started
    limits = CORRECT if given.small else CORRECT | ON_GPU
    faults = outside(found, limits)
    print(
        f"parts that failed: {', '.join(failed) or 'none'}; figures outside their limits: {', '.join(faults) or 'none'}"
    )
    result = {
        "bench": "gpu",
        "machine": {"device": device, "small": given.small},
        "figures": {name: float(f"{value:.4g}") for name, value in found.items()},
        "limits": limits,
        "outside": faults,
    }
    print(json.dumps(result))
    return 1 if failed or faults else 0


def run(name: str, command: list[str], log: Path, environment: dict[str, str], python: str = sys.executable) -> bool:
    """Runs a part with its output in `log`; returns whether it succeeded."""
    print(f"== {name}", flush=True)
    with log.open("w") as output:
        try:
            part = subprocess.run(
                [python, *command],
                cwd=FOLDER,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=None if environment.get("MRLM_CUDA_TESTS") else PART_SECONDS,
            )
            code = part.returncode
        except subprocess.TimeoutExpired:
            print(f"ended after {PART_SECONDS} s", file=output)
            code = 1
    print("\n".join(log.read_text().splitlines()[-40 if code else -3 :]), flush=True)
    return code == 0


def gather(out: Path) -> tuple[str, dict[str, float]]:
    """Returns the name of the device, and the figures of all parts that have printed some."""
    device, found = "unknown", dict[str, float]()
    if (out / "tests.xml").exists():
        suite = ElementTree.parse(out / "tests.xml").getroot().find("testsuite")
        counts = {} if suite is None else {key: float(suite.get(key, 0)) for key in ("tests", "skipped")}
        faults = 1.0 if suite is None else float(suite.get("failures", 0)) + float(suite.get("errors", 0))
        found["tests_failed"] = faults
        found["tests_passed"] = counts.get("tests", 0) - counts.get("skipped", 0) - faults
    figures = last_line(out / "figures.log")
    device = str(figures.get("device", device))
    found |= figures.get("figures", {})
    for name, prefix in (("bench", ""), ("bench-deterministic", "deterministic_")):
        rates = last_line(out / f"{name}.log").get("figures", {})
        sampled, trained = rates.get("sampled_tokens_per_s"), rates.get("trained_tokens_per_s")
        if sampled and trained:
            found[f"{prefix}sampled_over_generate"] = sampled["engine"] / sampled["generate"]
            found[f"{prefix}trained_over_bare"] = trained["engine"] / trained["bare"]
    found |= last_line(out / "vllm.log").get("figures", {})
    return device, found


def last_line(log: Path) -> dict[str, Any]:
    """Returns the JSON object in the last line of a log that has one; {} without one."""
    for line in reversed(log.read_text().splitlines() if log.exists() else []):
        if line.startswith("{"):
            value: dict[str, Any] = json.loads(line)
            return value
    return {}


def outside(figures: dict[str, float], limits: Limits) -> list[str]:
    """Returns the names of figures that are missing, no number, or outside their limits."""

    def holds(value: float, least: float | None, most: float | None) -> bool:
        return value == value and (least is None or value >= least) and (most is None or value <= most)

    return [name for name, bounds in limits.items() if name not in figures or not holds(figures[name], *bounds)]


if __name__ == "__main__":
    sys.exit(main())
