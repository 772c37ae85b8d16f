"""`python -m mrlm_engine`: one engine process. docs: protos/mrlm/engine/v1/engine.proto, mrlm_engine/cli.py."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

from mrlm_engine import PROTOCOL_MAJOR, PROTOCOL_MINOR
from mrlm_engine.cli import parse_arguments
from mrlm_engine.process import prepare_process

# Seconds that running calls have to end after SIGTERM.
DRAIN_SECONDS = 5.0


def main() -> int:
    """Listens, says so in one JSON line on stdout, and serves until told to end."""
    settings = parse_arguments()
    prepare_process()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # Whatever libraries print must not be taken for the JSON line.
    ready_line = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    import torch
    import transformers

    from mrlm_engine.device import choose_device
    from mrlm_engine.errors import EngineError
    from mrlm_engine.lifetime import end_of_life
    from mrlm_engine.service.server import start_server
    from mrlm_engine.service.state import EngineState

    transformers.utils.logging.disable_progress_bar()
    try:
        device = choose_device(settings.device, settings.mode, settings.threads)
        torch.manual_seed(settings.seed)
        state = EngineState(settings, device)
        token = Path(settings.token_file).read_text("utf-8").strip() if settings.token_file else ""
        ending = end_of_life()
        server, port = start_server(state, settings.host, settings.port, token)
    except EngineError as error:
        print(f"{error.code}: {error.message} {error.hint}", file=sys.stderr)
        return 1
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    line = {
        "listening": f"{host}:{port}",
        "device": str(device.device),
        "pid": os.getpid(),
        "instance_id": state.instance_id,
        "protocol": f"{PROTOCOL_MAJOR}.{PROTOCOL_MINOR}",
    }
    print(json.dumps(line), file=ready_line, flush=True)
    logging.getLogger("mrlm_engine").info("listening on %s, %s", line["listening"], device.name)
    ending.wait()
    server.stop(DRAIN_SECONDS).wait()
    state.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
