"""Synchronous client of a server that `mrlm serve` started."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any
from weakref import ref

import grpc

from mrlm_client.codec import encode_environment
from mrlm_client.descriptions import described, one_of
from mrlm_client.errors import MrlmError, closed_error
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire
from mrlm_client.gen.mrlm.env.v1.environment_pb2_grpc import EnvironmentServiceStub
from mrlm_client.peer import Attempts, Peer, Refusals, Tls
from mrlm_client.session_state import CLOSE_S, CLOSED, Leases, SessionState
from mrlm_client.values import ActionMessage, Description, FinishReason, Observation, StepResult


class Client:
    """Client of one server. It connects at the first call, and is safe for threads.

    Args:
        address: host and port of the server.
        token: token of a server with `--token-file`, or a function that returns the present one.
        tls: for a server with `--tls-cert`. Default: plain TCP.
        connect_s: longest wait for a server that has not answered yet, in seconds. Default: 10, or `reconnect_s` if
            that is less.
        reconnect_s: longest wait of a call for a server that was lost.
        admission_s: longest time for which a reset is repeated that a server without room refuses.
        lease_s: lease of sessions, renewed in the background. The server may grant a shorter one.
    """

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
            grpc.insecure_channel(address, self._peer.options)
            if credentials is None
            else grpc.secure_channel(address, credentials, self._peer.options)
        )
        self._stub = EnvironmentServiceStub(self._channel)
        self._leases = Leases()
        self._closing = threading.Event()
        self._keeper: threading.Thread | None = None
        self._lock = threading.Lock()

    def describe(self) -> list[Description]:
        """Returns the environments of the server, under default options."""
        return described(self._call("Describe", wire.DescribeRequest()), self._peer.address)

    def open(self, environment: str, options: Mapping[str, Any] | None = None) -> Session:
        """Opens a session. The server knows it from its first reset on.

        Args:
            environment: id of the environment, for example `math@2`.
            options: options of the environment.
        """
        reference = encode_environment(environment, options)
        response = self._call("Describe", wire.DescribeRequest(environment=reference))
        description = one_of(response, environment, self._peer.address)
        session = Session(self, description, SessionState(reference, self._lease_ms))
        with self._lock:
            self._leases.add(session.state)
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="mrlm-leases", daemon=True)
                self._keeper.start()
        return session

    def close(self) -> None:
        """Closes the sessions and the connection."""
        try:
            for session in self._leases.owners():
                session.close()
            self._close_dropped()
        finally:
            self._closing.set()
            self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, method: str, request: Any, timeout: float | None = None, patience_s: float | None = None) -> Any:
        attempts = Attempts(self._peer, patience_s)
        while True:
            if self._closing.is_set():
                raise closed_error(self._peer.address)
            try:
                response = getattr(self._stub, method)(request, timeout=timeout, metadata=self._peer.metadata)
            except grpc.RpcError as failure:
                pause = attempts.pause_after(failure)
            except ValueError:
                # Another thread has closed the channel meanwhile.
                if self._closing.is_set():
                    raise closed_error(self._peer.address) from None
                raise
            else:
                attempts.answered()
                return response
            self._closing.wait(pause)

    def _keep(self) -> None:
        while not self._closing.wait(self._leases.interval_s):
            self._close_dropped()
            request = self._leases.due()
            if request is not None:
                # A server that cannot be reached: the next call of a session waits for it, or fails.
                with contextlib.suppress(MrlmError):
                    self._leases.renewed(request, self._call("Renew", request, CLOSE_S, patience_s=0))

    def _close_dropped(self) -> None:
        for request in self._leases.dropped():
            # Otherwise its lease ends it.
            with contextlib.suppress(MrlmError):
                self._call("Close", request, CLOSE_S, patience_s=0)


class Session:
    """Environment for one client. After a lost connection its calls are sent again, and carried out once.

    Attributes:
        description: description of the environment.
    """

    def __init__(self, client: Client, description: Description, state: SessionState) -> None:
        self._client = client
        self.description = description
        self.state = state
        state.owner = ref(self)

    @property
    def agent(self) -> str:
        """Agent whose turn it is; empty without one."""
        return self.state.agent

    def reset(self, *, seed: int | None = None, task: str | None = None) -> Observation:
        """Starts an episode.

        Args:
            seed: an environment with determinism `none` refuses one.
            task: `split/index`. Default: the environment chooses by the seed.
        """
        with self.state.call("reset"):
            refusals = Refusals(self._client._admission_s)
            while True:
                request = self.state.reset_request(seed, task)
                try:
                    return self.state.opened(self._client._call("Reset", request))
                except MrlmError as error:
                    pause = refusals.pause_after(error)
                self._client._closing.wait(pause)

    def step(
        self, message: ActionMessage = "", *, agent: str | None = None, finish_reason: FinishReason = "stop"
    ) -> StepResult:
        """Takes one action.

        Args:
            message: a text, tool calls or a message.
            agent: default: the agent whose turn it is.
            finish_reason: `length`: the message may be cut. `exhausted`: the agent's context is full, and it takes no
                further turn.
        """
        with self.state.call("step"):
            request = self.state.step_request(message, agent, finish_reason)
            try:
                return self.state.stepped(self._client._call("Step", request))
            except BaseException as error:
                self.state.step_failed(error)
                raise

    def close(self) -> None:
        """Ends the session. A second call does nothing."""
        if self.state.is_closed:
            return
        self.state.is_closed = True
        self._client._leases.remove(self.state)
        if not self.state.is_known:
            return
        try:
            self._client._call("Close", wire.CloseRequest(session_id=self.state.id), CLOSE_S, patience_s=0)
        except MrlmError as error:
            if error.code not in CLOSED:
                raise

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
