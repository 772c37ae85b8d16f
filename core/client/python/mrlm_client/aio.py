"""Asynchronous client of a server that `mrlm serve` started."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any
from weakref import ref

import grpc
import grpc.aio

from mrlm_client.codec import encode_environment
from mrlm_client.descriptions import described, one_of
from mrlm_client.errors import MrlmError, closed_error
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire
from mrlm_client.gen.mrlm.env.v1.environment_pb2_grpc import EnvironmentServiceStub
from mrlm_client.peer import Attempts, Peer, Refusals, Tls
from mrlm_client.session_state import CLOSE_S, CLOSED, Leases, SessionState
from mrlm_client.values import ActionMessage, Description, FinishReason, Observation, StepResult


class AsyncClient:
    """`Client` for asyncio, in the event loop that it is made in. A cancelled call is cancelled on the server too."""

    def __init__(
        self,
        address: str,
        *,
        token: str | Callable[[], str] | None = None,
        tls: Tls | None = None,
        connect_s: float | None = None,
        reconnect_s: float = 60.0,
        admission_s: float = 60.0,
        lease_s: float = 60.0,
    ) -> None:
        self._peer = Peer(address, token, tls, connect_s, reconnect_s)
        self._admission_s = admission_s
        self._lease_ms = round(lease_s * 1_000)
        credentials = self._peer.credentials
        self._channel = (
            grpc.aio.insecure_channel(address, self._peer.options)
            if credentials is None
            else grpc.aio.secure_channel(address, credentials, self._peer.options)
        )
        self._stub: Any = EnvironmentServiceStub(self._channel)
        self._leases = Leases()
        self._is_closed = False
        self._keeper: asyncio.Task[None] | None = None

    async def describe(self) -> list[Description]:
        """Returns the environments of the server, under default options."""
        return described(await self._call("Describe", wire.DescribeRequest()), self._peer.address)

    async def open(self, environment: str, options: Mapping[str, Any] | None = None) -> AsyncSession:
        """Opens a session, as `Client.open` does."""
        reference = encode_environment(environment, options)
        response = await self._call("Describe", wire.DescribeRequest(environment=reference))
        description = one_of(response, environment, self._peer.address)
        session = AsyncSession(self, description, SessionState(reference, self._lease_ms))
        self._leases.add(session.state)
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())
        return session

    async def close(self) -> None:
        """Closes the sessions and the connection."""
        try:
            await asyncio.gather(*(session.close() for session in self._leases.owners()))
            await self._close_dropped()
        finally:
            self._is_closed = True
            if self._keeper is not None:
                self._keeper.cancel()
            await self._channel.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(
        self, method: str, request: Any, timeout: float | None = None, patience_s: float | None = None
    ) -> Any:
        attempts = Attempts(self._peer, patience_s)
        while True:
            if self._is_closed:
                raise closed_error(self._peer.address)
            try:
                response = await getattr(self._stub, method)(request, timeout=timeout, metadata=self._peer.metadata)
            except grpc.RpcError as failure:
                pause = attempts.pause_after(failure)
            else:
                attempts.answered()
                return response
            await asyncio.sleep(pause)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._leases.interval_s)
            await self._close_dropped()
            request = self._leases.due()
            if request is not None:
                # A server that cannot be reached: the next call of a session waits for it, or fails.
                with contextlib.suppress(MrlmError):
                    self._leases.renewed(request, await self._call("Renew", request, CLOSE_S, patience_s=0))

    async def _close_dropped(self) -> None:
        for request in self._leases.dropped():
            # Otherwise its lease ends it.
            with contextlib.suppress(MrlmError):
                await self._call("Close", request, CLOSE_S, patience_s=0)


class AsyncSession:
    """`Session` for asyncio."""

    def __init__(self, client: AsyncClient, description: Description, state: SessionState) -> None:
        self._client = client
        self.description = description
        self.state = state
        state.owner = ref(self)

    @property
    def agent(self) -> str:
        """Agent whose turn it is; empty without one."""
        return self.state.agent

    async def reset(self, *, seed: int | None = None, task: str | None = None) -> Observation:
        """Starts an episode, as `Session.reset` does."""
        with self.state.call("reset"):
            refusals = Refusals(self._client._admission_s)
            while True:
                request = self.state.reset_request(seed, task)
                try:
                    return self.state.opened(await self._client._call("Reset", request))
                except MrlmError as error:
                    pause = refusals.pause_after(error)
                await asyncio.sleep(pause)

    async def step(
        self, message: ActionMessage = "", *, agent: str | None = None, finish_reason: FinishReason = "stop"
    ) -> StepResult:
        """Takes one action, as `Session.step` does."""
        with self.state.call("step"):
            request = self.state.step_request(message, agent, finish_reason)
            try:
                return self.state.stepped(await self._client._call("Step", request))
            except BaseException as error:
                self.state.step_failed(error)
                raise

    async def close(self) -> None:
        """Ends the session. A second call does nothing."""
        if self.state.is_closed:
            return
        self.state.is_closed = True
        self._client._leases.remove(self.state)
        if not self.state.is_known:
            return
        try:
            await self._client._call("Close", wire.CloseRequest(session_id=self.state.id), CLOSE_S, patience_s=0)
        except MrlmError as error:
            if error.code not in CLOSED:
                raise

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
