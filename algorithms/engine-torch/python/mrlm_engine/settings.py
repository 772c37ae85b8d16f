"""Settings of one engine process."""

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
    # Seed of torch's global generator. Sampling uses counter-based random numbers, and models have their own seeds.
    seed: int = 0
    token_file: str = ""
    # Time that a graph waits for the client's gradients, and memory limit of all graphs of a call.
    graph_lease_seconds: float = 60.0
    graph_bytes: int = 2 << 30
    # Division of a model among ranks: with "ddp" each rank holds all of it, with "fsdp" a part.
    strategy: str = "ddp"
    # Sizes of the mesh of ranks: data, context and tensor; None for data alone.
    parallel: tuple[int, int, int] | None = None
    # Serve SamplerService alone: weights come from a trainer.
    samples_only: bool = False
    # Index of the CUDA device.
    gpu: int = 0
