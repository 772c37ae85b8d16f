"""The gRPC server of an engine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import grpc

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2_grpc
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2_grpc
from mrlm_engine.service.authentication import TokenInterceptor
from mrlm_engine.service.sampler_servicer import SamplerServicer
from mrlm_engine.service.servicer import EngineServicer
from mrlm_engine.service.state import EngineState

# For short calls. Streams have threads of their own.
WORKERS = 32
OPTIONS = [
    # Units of a large batch and tokenizer files exceed gRPC's default of 4 MiB.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # A second engine on the same port must fail and not share it.
    ("grpc.so_reuseport", 0),
    # Clients may send frequent keepalive pings during long computations.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5000),
]


def start_server(state: EngineState, host: str, port: int, token: str = "") -> tuple[grpc.Server, int]:
    """Listens on `host`:`port` (0: a free one). Returns the server and its port."""
    interceptors: list[grpc.ServerInterceptor] = [TokenInterceptor(token)] if token else []
    pool = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="rpc")
    server = grpc.server(pool, options=OPTIONS, interceptors=interceptors)
    sampler_pb2_grpc.add_SamplerServiceServicer_to_server(SamplerServicer(state), server)  # type: ignore[no-untyped-call]
    if not state.settings.samples_only:
        engine_pb2_grpc.add_EngineServiceServicer_to_server(EngineServicer(state), server)  # type: ignore[no-untyped-call]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        bound = server.add_insecure_port(address)
    except RuntimeError as cause:
        bound = 0
        reason: BaseException | None = cause
    else:
        reason = None
    if bound == 0:
        raise EngineError(
            "OPTIONS_INVALID", f"The engine cannot listen on {address}.", "Choose another --port, or 0 for a free one."
        ) from reason
    server.start()
    return server, bound
