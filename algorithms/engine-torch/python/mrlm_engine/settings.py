"""How one engine process was told to run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineSettings:
    """Command-line choices; docs in mrlm_engine/cli.py."""

    host: str = "127.0.0.1"
    port: int = 0
    device: str = "auto"
    mode: str = "auto"
    threads: int = 0
    lanes: int = 1
    # Of torch's global generator; sampling draws from keyed streams, and models from seeds of their own.
    seed: int = 0
    token_file: str = ""
    # How long a graph waits for the client's gradients, and how much all of a call's graphs may hold.
    graph_lease_seconds: float = 60.0
    graph_bytes: int = 2 << 30
    # How several ranks hold a model: "ddp" each all of it, "fsdp" each a part.
    strategy: str = "ddp"
