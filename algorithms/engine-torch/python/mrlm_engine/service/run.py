"""Main loop of a process of the engine: serves clients on rank 0, and runs work from rank 0 on other ranks."""

from __future__ import annotations

import json
import logging
import os
import threading
from typing import TextIO

from mrlm_engine import PROTOCOL_MAJOR, PROTOCOL_MINOR
from mrlm_engine.cli import read_token
from mrlm_engine.ranks.group import Channel
from mrlm_engine.ranks.worker import start_following
from mrlm_engine.service.find_rank_samplers import listen_to_leader
from mrlm_engine.service.server import start_server
from mrlm_engine.service.state import EngineState

# Grace period of running calls after SIGTERM, in seconds.
DRAIN_SECONDS = 5.0

log = logging.getLogger("mrlm_engine")


def serve_clients(state: EngineState, ending: threading.Event, ready_line: TextIO) -> int:
    """Listens, prints one JSON line, and serves until `ending`. Returns the exit status."""
    settings = state.settings
    token = read_token(settings.token_file) if settings.token_file else ""
    if not token:
        log.warning("no --token-file: any user of this machine can control this engine and use your files through it")
    server, port = start_server(state, settings.host, settings.port, token)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    line = {
        "listening": f"{host}:{port}",
        "device": str(state.device.device),
        "pid": os.getpid(),
        "instance_id": state.instance_id,
        "protocol": f"{PROTOCOL_MAJOR}.{PROTOCOL_MINOR}",
    }
    print(json.dumps(line), file=ready_line, flush=True)
    mesh = state.placement.mesh
    sizes = "" if mesh is None else f", data {mesh.data} x context {mesh.context} x tensor {mesh.tensor}"
    ranks = f", {state.ranks.size} ranks ({settings.strategy}{sizes})" if state.ranks.size > 1 else ""
    log.info("listening on %s, %s%s", line["listening"], state.device.name, ranks)
    ending.wait()
    server.stop(DRAIN_SECONDS).wait()
    state.ranks.close()
    state.close()
    return 0


def follow_leader(state: EngineState, channel: Channel, ending: threading.Event) -> int:
    """Runs work from rank 0 until it sends None, or until `ending` and the grace period of rank 0."""
    server = listen_to_leader(state, channel)
    over = threading.Event()
    thread = start_following(state, channel, over, ending)
    ending.wait()
    thread.join(DRAIN_SECONDS + 1)
    server.stop(None)
    state.close()
    if not over.is_set():
        # Rank 0 did not send None, so this rank would wait for ever.
        logging.shutdown()
        os._exit(0)
    return 0
