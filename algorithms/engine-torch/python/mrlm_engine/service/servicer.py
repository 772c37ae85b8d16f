"""The gRPC handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2_grpc
from mrlm_engine.service import models, weights
from mrlm_engine.service.failures import streaming, unary
from mrlm_engine.service.forward import forward
from mrlm_engine.service.forward_backward import forward_backward
from mrlm_engine.service.memory import estimate_memory
from mrlm_engine.service.send_weights import send_weights
from mrlm_engine.service.state import EngineState
from mrlm_engine.service.stream_threads import on_stream_thread

Request = TypeVar("Request")
Response = TypeVar("Response")


class EngineServicer(engine_pb2_grpc.EngineServiceServicer):
    """Handlers of one engine. Calls that change state take effect once for each call number."""

    def __init__(self, state: EngineState) -> None:
        self._state = state

    @unary
    def Describe(self, request: pb.DescribeRequest, context: Any) -> pb.DescribeResponse:
        return models.describe(self._state)

    @unary
    def EstimateMemory(self, request: pb.EstimateMemoryRequest, context: Any) -> pb.EstimateMemoryResponse:
        return estimate_memory(self._state, request)

    @unary
    def CreateModel(self, request: pb.CreateModelRequest, context: Any) -> pb.CreateModelResponse:
        return self._once(request, models.create)

    @unary
    def ReleaseModel(self, request: pb.ReleaseModelRequest, context: Any) -> pb.ReleaseModelResponse:
        return self._once(request, models.release)

    @on_stream_thread
    @streaming
    def Forward(self, requests: Iterator[pb.ForwardRequest], context: Any) -> Iterator[pb.ForwardResponse]:
        yield from forward(self._state, requests)

    @on_stream_thread
    @streaming
    def ForwardBackward(
        self, requests: Iterator[pb.ForwardBackwardRequest], context: Any
    ) -> Iterator[pb.ForwardBackwardResponse]:
        yield from forward_backward(self._state, requests)

    @unary
    def OptimStep(self, request: pb.OptimStepRequest, context: Any) -> pb.OptimStepResponse:
        return self._once(request, weights.optim_step)

    @unary
    def Average(self, request: pb.AverageRequest, context: Any) -> pb.AverageResponse:
        return self._once(request, weights.average)

    @unary
    def Publish(self, request: pb.PublishRequest, context: Any) -> pb.PublishResponse:
        return self._once(request, weights.publish)

    @on_stream_thread
    @streaming
    def Weights(self, request: pb.WeightsRequest, context: Any) -> Iterator[pb.WeightsResponse]:
        yield from send_weights(self._state, request)

    @unary
    def WriteWeights(self, request: pb.WriteWeightsRequest, context: Any) -> pb.WriteWeightsResponse:
        return weights.write_weights(self._state, request)

    @unary
    def Save(self, request: pb.SaveRequest, context: Any) -> pb.SaveResponse:
        return self._once(request, weights.save)

    @unary
    def Load(self, request: pb.LoadRequest, context: Any) -> pb.LoadResponse:
        return self._once(request, weights.load)

    @unary
    def Export(self, request: pb.ExportRequest, context: Any) -> pb.ExportResponse:
        return self._once(request, weights.export)

    def _once(self, request: Any, handler: Callable[[EngineState, Any], Response]) -> Response:
        """Runs the handler, or returns the stored answer of the call with this number."""
        kind = type(request).__name__.removesuffix("Request")
        with self._state.calls.call(request.call, kind, request.SerializeToString(deterministic=True)) as slot:
            if slot.answer is None:
                slot.answer = handler(self._state, request)
            answer: Response = slot.answer
            return answer
