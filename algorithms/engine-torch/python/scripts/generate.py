"""Generates mrlm_engine/gen from protos/ with grpcio-tools; with --check, compares the committed code.

python scripts/generate.py [--check]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON_ROOT = Path(__file__).resolve().parent.parent
PROTO_ROOT = PYTHON_ROOT.parents[2] / "protos"
PACKAGE = "mrlm_engine.gen"
TARGET = PYTHON_ROOT / "mrlm_engine" / "gen"
PROTOS = ("mrlm/common/v1/error.proto", "mrlm/engine/v1/engine.proto")
# error.proto has no service, so its gRPC module would be empty.
UNUSED = ("mrlm/common/v1/error_pb2_grpc.py",)


def generate(into: Path) -> None:
    """Writes the generated modules under `into`, importing each other from inside this package."""
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(PROTO_ROOT)]
    command += [f"--{kind}={into}" for kind in ("python_out", "pyi_out", "grpc_python_out")]
    subprocess.run([*command, *PROTOS], check=True)
    for name in UNUSED:
        (into / name).unlink()
    for file in into.rglob("*.py"):
        text = file.read_text("utf-8")
        file.write_text(re.sub(r"^from mrlm\.", f"from {PACKAGE}.mrlm.", text, flags=re.MULTILINE), "utf-8")


def main() -> int:
    """Generates in place, or compares a fresh generation with what is committed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something would change")
    if not parser.parse_args().check:
        generate(TARGET)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        stale = [
            str(file.relative_to(fresh))
            for file in sorted(fresh.rglob("*.py*"))
            if not (TARGET / file.relative_to(fresh)).is_file()
            or (TARGET / file.relative_to(fresh)).read_bytes() != file.read_bytes()
        ]
    for name in stale:
        print(f"mrlm_engine/gen/{name} differs from protos/: run python scripts/generate.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
