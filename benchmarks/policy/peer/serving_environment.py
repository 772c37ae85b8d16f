"""Make the virtual environment of `transformers serve` if it is missing, and print the path of its interpreter.

    python3 serving_environment.py

Run it with the engine's Python: torch and transformers are those of the engine, and only the packages of
requirements.txt are installed. The directory is ${XDG_CACHE_HOME:-~/.cache}/mrlm/bench/policy-<hash>, where the hash
covers the requirements and the engine's directory. Progress goes to stderr. Only the standard library is used.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def main() -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    packages = sysconfig.get_path("purelib")
    digest = hashlib.sha256(packages.encode() + b"\0" + REQUIREMENTS.read_bytes()).hexdigest()[:12]
    directory = cache / "mrlm" / "bench" / f"policy-{digest}"
    python = directory / "bin" / "python"
    if not (directory / ".complete").exists():
        shutil.rmtree(directory, ignore_errors=True)
        directory.parent.mkdir(parents=True, exist_ok=True)
        print(f"Creating {directory} (about 10 seconds, once)", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True, stdout=sys.stderr)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        (directory / "lib" / version / "site-packages" / "engine.pth").write_text(f"{packages}\n", "utf-8")
        install = [str(python), "-m", "pip", "install", "--progress-bar", "off", "-r", str(REQUIREMENTS)]
        subprocess.run(install, check=True, stdout=sys.stderr)
        # The marker, written last, is what makes the environment count as complete.
        (directory / ".complete").touch()
    print(python)


if __name__ == "__main__":
    main()
