"""Everything that needs a GPU, in one command: the tests, the benchmark and a profile; under 10 minutes.

    python scripts/gpu.py [--device cuda|cpu] [--out DIRECTORY]

Needs Python with torch >= 2.11, transformers 5, pytest, grpcio, protobuf and safetensors (peft for adapters); no Node
and no network.
`--device cpu` runs the same on a CPU with tiny models, to try this script.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]
BENCH = FOLDER.parents[2] / "benchmarks/gpu/bench.py"


def main() -> int:
    """Runs each part, also after one that fails; 1 if any did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path, default=Path("gpu-results"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    bench = [sys.executable, str(BENCH), "--device", given.device, *(["--tiny"] if given.device == "cpu" else [])]
    parts = {
        "tests": [sys.executable, "-m", "pytest", "-rs", "tests/cuda"],
        "bench": bench,
        "bench-deterministic": [*bench, "--mode", "deterministic", "--rounds", "1"],
        "profile": [*bench, "--profile", str(given.out.resolve() / "profile")],
    }
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    if given.device == "cpu":
        environment["MRLM_CUDA_TESTS"] = "cpu"
    failed = []
    for name, command in parts.items():
        print(f"== {name}", flush=True)
        with (given.out / f"{name}.log").open("w") as log:
            part = subprocess.run(command, cwd=FOLDER, env=environment, stdout=log, stderr=subprocess.STDOUT)
        lines = (given.out / f"{name}.log").read_text().splitlines()
        print("\n".join(lines[-40 if part.returncode else -3 :]), flush=True)
        if part.returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all parts passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
