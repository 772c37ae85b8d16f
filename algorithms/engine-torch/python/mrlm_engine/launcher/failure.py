"""Failures of an engine of several machines."""

from __future__ import annotations


class LaunchError(Exception):
    """A failure with a stable code and a message; docs/reference/errors.md."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def machine_and_ranks(node_rank: int, address: str, nproc_per_node: int) -> str:
    """Returns `machine 1 (10.0.0.2, ranks 8 to 15)`."""
    first = node_rank * nproc_per_node
    ranks = f"rank {first}" if nproc_per_node == 1 else f"ranks {first} to {first + nproc_per_node - 1}"
    return f"machine {node_rank} ({address}, {ranks})"
