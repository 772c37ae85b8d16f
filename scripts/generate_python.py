"""Generates the Python code of protos/ with grpcio-tools, for each package that has some; with --check, compares it.

python scripts/generate_python.py [--check]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ERROR = "mrlm/common/v1/error.proto"
#: Folder of each package, and its protocols. Every package has a module `gen`.
PACKAGES = {
    "algorithms/engine-torch/python/mrlm_engine": (
        ERROR,
        "mrlm/sampler/v1/sampler.proto",
        "mrlm/engine/v1/engine.proto",
    ),
    "core/client/python/mrlm_client": (ERROR, "mrlm/env/v1/environment.proto"),
}
# error.proto has no service, so its gRPC module would be empty.
UNUSED = "mrlm/common/v1/error_pb2_grpc.py"


def generate(into: Path, package: str, protos: tuple[str, ...]) -> None:
    """Writes the generated modules under `into`, importing each other from inside `package`."""
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(ROOT / "protos")]
    command += [f"--{kind}={into}" for kind in ("python_out", "pyi_out", "grpc_python_out")]
    subprocess.run([*command, *protos], check=True)
    (into / UNUSED).unlink()
    for file in into.rglob("*.py"):
        text = file.read_text("utf-8")
        file.write_text(re.sub(r"^from mrlm\.", f"from {package}.gen.mrlm.", text, flags=re.MULTILINE), "utf-8")


def stale_files(target: Path, package: str, protos: tuple[str, ...]) -> list[Path]:
    """Returns the files under `target` that differ from a fresh generation."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh, package, protos)
        return [
            target / file.relative_to(fresh)
            for file in sorted(fresh.rglob("*.py*"))
            if not (target / file.relative_to(fresh)).is_file()
            or (target / file.relative_to(fresh)).read_bytes() != file.read_bytes()
        ]


def main() -> int:
    """Generates in place, or compares fresh generations with what is committed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something would change")
    is_check = parser.parse_args().check
    stale = []
    for folder, protos in PACKAGES.items():
        target = ROOT / folder / "gen"
        package = Path(folder).name
        if is_check:
            stale += stale_files(target, package, protos)
        else:
            generate(target, package, protos)
    for file in stale:
        print(f"{file.relative_to(ROOT)} differs from protos/: run npm run gen", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
