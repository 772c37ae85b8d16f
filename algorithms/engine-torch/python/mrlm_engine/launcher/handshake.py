"""Description of a machine that joins, and the comparison with machine 0."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import mrlm_engine


@dataclass(frozen=True)
class Hello:
    """Number of a machine, and all properties that must be equal on all machines of an engine."""

    node_rank: int
    nnodes: int
    nproc_per_node: int
    strategy: str
    # Sizes of the mesh of ranks: `2,1,4`, or empty.
    parallel: str
    # Version of mrlm_engine with a digest of its code, because ranks send each other functions by name.
    engine: str
    # Version without the build (+cpu, +cu130).
    torch: str
    transformers: str

    def to_message(self) -> dict[str, Any]:
        """Converts to the form of a message."""
        return asdict(self)


def hello_of_machine(node_rank: int, nnodes: int, nproc_per_node: int, strategy: str, parallel: str = "") -> Hello:
    """Describes this machine."""
    versions = _engine_version(), _version("torch"), _version("transformers")
    return Hello(node_rank, nnodes, nproc_per_node, strategy, parallel, *versions)


def objection(ours: Hello, theirs: dict[str, Any]) -> str:
    """Describes in what another machine differs from machine 0 (`ours`); empty without a difference."""
    differences = [
        f"{name} is {theirs.get(name, 'missing')}, and {wanted} on machine 0"
        for name, wanted in ours.to_message().items()
        if name != "node_rank" and theirs.get(name) != wanted
    ]
    if not differences:
        node_rank = theirs.get("node_rank")
        if not isinstance(node_rank, int) or not 0 < node_rank < ours.nnodes:
            differences = [
                f"node_rank is {node_rank}, and those of the machines that join are {numbers_of_others(ours.nnodes)}"
            ]
    return "; ".join(differences)


def numbers_of_others(nnodes: int) -> str:
    """Returns `1`, or `1 to 3`."""
    return "1" if nnodes == 2 else f"1 to {nnodes - 1}"


def _version(package: str) -> str:
    try:
        return version(package).split("+")[0]
    except PackageNotFoundError:
        return "none"


@cache
def _engine_version() -> str:
    root = Path(mrlm_engine.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{mrlm_engine.__version__} (code {digest.hexdigest()[:8]})"
