"""Make the peers' virtual environment if it is missing, and print the path of its Python interpreter.

    python3 setup_environment.py [--print-only] [--requirements FILE]

It is in ${XDG_CACHE_HOME:-~/.cache}/mrlm/bench/trl-<hash>, or NAME-<hash> for the requirements of another folder
NAME, which may have a file no-deps.txt of packages without their dependencies. The hash covers the requirements and
the Python version, so that an edited pin makes a new environment and nothing is ever reinstalled. Progress goes to
stderr. Only the standard library is used.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def environment_directory(requirements: Path) -> Path:
    """Returns the directory that belongs to these requirements and this Python version; it may not exist yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    alone = without_dependencies(requirements)
    pins = requirements.read_bytes() + (b"\0" + alone.read_bytes() if alone.exists() else b"")
    digest = hashlib.sha256(version.encode() + b"\0" + pins).hexdigest()[:12]
    name = "trl" if requirements == REQUIREMENTS else requirements.resolve().parent.name
    return cache / "mrlm" / "bench" / f"{name}-{digest}"


def without_dependencies(requirements: Path) -> Path:
    """Returns the file of packages that are installed without what they depend on; it may not exist."""
    return requirements.with_name("no-deps.txt")


def interpreter(directory: Path) -> Path:
    return directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(directory: Path, requirements: Path) -> None:
    """Build beside the target; the marker, written last, is what makes the environment count as complete."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(parents=True, exist_ok=True)
    print(f"Creating {directory} (about 2 minutes, once)", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True, stdout=sys.stderr)
    command = [str(interpreter(directory)), "-m", "pip", "install", "--progress-bar", "off", "-r", str(requirements)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    alone = without_dependencies(requirements)
    if alone.exists():
        command = [*command[:-1], str(alone), "--no-deps"]
        subprocess.run(command, check=True, stdout=sys.stderr)
    (directory / ".complete").touch()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print-only", action="store_true", help="print the path without installing anything")
    parser.add_argument("--requirements", type=Path, default=REQUIREMENTS, help="default: those of the peers")
    arguments = parser.parse_args()
    directory = environment_directory(arguments.requirements)
    if not arguments.print_only and not (directory / ".complete").exists():
        install(directory, arguments.requirements)
    print(interpreter(directory))


if __name__ == "__main__":
    main()
