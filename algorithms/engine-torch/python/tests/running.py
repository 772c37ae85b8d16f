"""Engines for tests, in this process."""

from __future__ import annotations

import json
import time
from typing import Any

from client import Client
from tiny import QWEN2, create_request

from mrlm_engine.device import choose_device
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models import LoadedModel
from mrlm_engine.service.server import start_server
from mrlm_engine.service.state import EngineState
from mrlm_engine.settings import EngineSettings


class RunningEngine:
    """One engine that listens on a free port."""

    def __init__(self, token: str = "", lanes: int = 1, **settings: Any) -> None:
        device = choose_device("cpu", "deterministic", 2, lanes)
        self.state = EngineState(EngineSettings(**settings), device)
        self._server, port = start_server(self.state, "127.0.0.1", 0, token)
        self.address = f"127.0.0.1:{port}"
        self.client = Client(self.address)

    def create(self, model_id: str = "policy", config: dict[str, Any] = QWEN2, **fields: Any) -> LoadedModel:
        """Creates a model through the wire; what the engine holds then."""
        request: pb.CreateModelRequest = create_request(model_id, json.dumps(config), **fields)
        self.client.call += 1
        request.call = self.client.call
        self.client.unary("CreateModel", request)
        return self.state.registry.get(model_id)

    def wait_until_idle(self) -> None:
        for _ in range(500):
            if (open_pass := self.state.passes.get("policy")) is None or not open_pass.running:
                return
            time.sleep(0.01)
        raise AssertionError("the handler of a lost client still runs")

    def stop(self) -> None:
        self.client.close()
        self._server.stop(None).wait()
        self.state.close()
