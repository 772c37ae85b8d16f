"""The command line of one engine process."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from mrlm_engine.settings import EngineSettings


def read_token(path: str) -> str:
    """Reads the token of a file, without surrounding white space.

    Raises OSError for a file that cannot be read, and ValueError for one without a token: an engine with an empty token
    would accept every client.
    """
    token = Path(path).read_text("utf-8").strip()
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise ValueError(f"the file {path!r} does not hold a token: one line of printable ASCII without spaces")
    return token


def parse_arguments(arguments: Sequence[str] | None = None) -> EngineSettings:
    """Parses the command line. Exits with status 2 and a message for malformed arguments."""
    parser = argparse.ArgumentParser(
        prog="mrlm_engine",
        description="Serves the engine over gRPC. Prints one JSON line when it listens; ends when stdin closes.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="interface to listen on")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--mode", choices=("auto", "deterministic", "throughput"), default="auto")
    parser.add_argument("--threads", type=int, default=0, help="size of torch's intra-op pool; 0 keeps torch's default")
    parser.add_argument(
        "--lanes", type=int, default=1, help="parts of a micro-batch that are computed in parallel on CPU"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of torch's global generator")
    parser.add_argument("--token-file", default="", help="file with the token that calls must carry")
    parser.add_argument("--graph-lease", type=float, default=60.0, help="seconds that a graph waits for gradients")
    parser.add_argument("--graph-bytes", type=int, default=2 << 30, help="bytes that waiting graphs of a call may hold")
    parser.add_argument(
        "--strategy",
        choices=("ddp", "fsdp"),
        default="ddp",
        help="how several ranks hold a model: each all of it, or each a part",
    )
    parser.add_argument(
        "--parallel",
        type=_mesh_sizes,
        metavar="DATA,CONTEXT,TENSOR",
        help="ranks that compute different units, parts of the tokens of a unit, and parts of the products of a token",
    )
    parser.add_argument(
        "--samples-only", action="store_true", help="sample with the weights of a trainer, and train nothing"
    )
    parser.add_argument("--gpu", type=int, default=0, help="index of the CUDA device")
    given = parser.parse_args(arguments)
    if given.token_file:
        try:
            read_token(given.token_file)
        except (OSError, ValueError) as error:
            parser.error(f"--token-file: {error}")
    if given.samples_only and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        parser.error("--samples-only: a sampler is one process; start one for each GPU")
    if given.lanes < 1:
        parser.error(f"--lanes: {given.lanes} is less than 1")
    return EngineSettings(
        host=given.host,
        port=given.port,
        device=given.device,
        mode=given.mode,
        threads=given.threads,
        lanes=given.lanes,
        seed=given.seed,
        token_file=given.token_file,
        graph_lease_seconds=given.graph_lease,
        graph_bytes=given.graph_bytes,
        strategy=given.strategy,
        parallel=given.parallel,
        samples_only=given.samples_only,
        gpu=given.gpu,
    )


def _mesh_sizes(text: str) -> tuple[int, int, int]:
    """Parses `2,1,4`: sizes of at least 1. Raises ValueError, which argparse reports."""
    data, context, tensor = (int(size) for size in text.split(","))
    if min(data, context, tensor) < 1:
        raise ValueError(text)
    return data, context, tensor
