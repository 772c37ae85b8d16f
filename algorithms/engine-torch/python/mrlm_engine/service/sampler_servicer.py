"""The gRPC handlers of SamplerService."""

from __future__ import annotations

import itertools
import platform
from collections.abc import Iterator
from typing import Any

import torch
import transformers

from mrlm_engine import PROTOCOL_MAJOR, PROTOCOL_MINOR
from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2_grpc
from mrlm_engine.service.codec.units import require_open
from mrlm_engine.service.failures import streaming, unary
from mrlm_engine.service.sample import sample
from mrlm_engine.service.state import EngineState
from mrlm_engine.service.stream_threads import on_stream_thread
from mrlm_engine.service.update import Updates


class SamplerServicer(sampler_pb2_grpc.SamplerServiceServicer):
    """Handlers of an engine, or of a process that samples only."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._updates = Updates(state)

    @unary
    def Describe(self, request: pb.DescribeRequest, context: Any) -> pb.DescribeResponse:
        state = self._state
        samplers = state.samplers()
        samples_only = state.settings.samples_only
        return pb.DescribeResponse(
            protocol_major=PROTOCOL_MAJOR,
            protocol_minor=PROTOCOL_MINOR,
            instance_id=state.instance_id,
            device=str(state.device.device),
            device_name=state.device.name,
            software={
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                "python": platform.python_version(),
            },
            threads=state.device.threads * state.device.lanes,
            models=[
                pb.SampledModel(model_id=model_id, version=sampler.version, checksum=sampler.checksum)
                for model_id, sampler in samplers.items()
            ],
            capabilities=pb.SamplerCapabilities(
                deterministic=state.device.deterministic,
                logprobs=pb.LOGPROB_KIND_DRAWN,
                update_from_trainer=samples_only,
                # In deterministic mode waves end before weights change: every rule is the same.
                in_flight=[pb.IN_FLIGHT_RECOMPUTE, pb.IN_FLIGHT_KEEP, pb.IN_FLIGHT_WAIT],
                proof=pb.PROOF_CHECKSUM,
            ),
            running_tokens=sum(sampler.running_tokens for sampler in samplers.values()),
            compute_seconds=COMPUTE_CLOCK.seconds,
        )

    @unary
    def ReadTokenizer(self, request: pb.ReadTokenizerRequest, context: Any) -> pb.ReadTokenizerResponse:
        return pb.ReadTokenizerResponse(files=self._state.registry.get(request.model_id).tokenizer_files)

    @on_stream_thread
    @streaming
    def Sample(self, requests: Iterator[pb.SampleRequest], context: Any) -> Iterator[pb.SampleResponse]:
        first = next(requests, None)
        require_open(first)
        assert first is not None
        sampler = self._state.sampler(first.open.model_id)
        yield from sample(sampler, itertools.chain([first], requests), context)

    @unary
    def Update(self, request: pb.UpdateRequest, context: Any) -> pb.UpdateResponse:
        if not self._state.settings.samples_only:
            raise EngineError("OPTIONS_INVALID", "An engine publishes its weights itself.", "Call Publish.")
        return self._updates.update(request)
