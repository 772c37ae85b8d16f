"""Decisions about repetitions and leases, without a server."""

from __future__ import annotations

import time
from typing import Any

import grpc
import pytest

from mrlm_client import Client, MrlmError
from mrlm_client.errors import ERROR_KEY
from mrlm_client.gen.mrlm.common.v1.error_pb2 import ErrorDetail
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire
from mrlm_client.peer import Attempts, Peer, Refusals
from mrlm_client.session_state import Leases, SessionState


class Failure(grpc.RpcError):
    """Failed call, as gRPC reports it."""

    def __init__(self, status: grpc.StatusCode, detail: ErrorDetail | None = None) -> None:
        self._status = status
        self._trailing = [] if detail is None else [(ERROR_KEY, detail.SerializeToString())]

    def code(self) -> grpc.StatusCode:
        return self._status

    def details(self) -> str:
        return "details"

    def trailing_metadata(self) -> Any:
        return self._trailing


LOST = Failure(grpc.StatusCode.UNAVAILABLE)


def peer(connect_s: float = 10.0, reconnect_s: float = 60.0) -> Peer:
    return Peer("127.0.0.1:1", None, None, connect_s, reconnect_s)


def test_pauses_after_losses_grow_up_to_two_seconds() -> None:
    attempts = Attempts(peer())
    pauses = [attempts.pause_after(LOST) for _ in range(20)]
    assert 0.04 <= pauses[0] <= 0.05
    assert all(1.6 <= pause <= 2.0 for pause in pauses[10:])


def test_a_loss_is_final_when_the_patience_ends() -> None:
    with pytest.raises(MrlmError, match="SERVER_UNAVAILABLE"):
        Attempts(peer(connect_s=0)).pause_after(LOST)
    answered = peer(connect_s=0)
    Attempts(answered).answered()
    assert Attempts(answered).pause_after(LOST) > 0


def test_n20_a_first_connection_waits_no_longer_than_a_lost_one() -> None:
    def patience_s(connect_s: float | None, reconnect_s: float) -> float:
        return Peer("127.0.0.1:1", None, None, connect_s, reconnect_s).patience_s

    assert patience_s(None, 4.0) == 4.0
    assert patience_s(None, 60.0) == 10.0
    assert patience_s(30.0, 4.0) == 30.0
    with pytest.raises(MrlmError, match="SERVER_UNAVAILABLE"):
        Client("127.0.0.1:1", reconnect_s=0.0).describe()


def test_an_error_of_the_server_is_no_loss() -> None:
    detail = ErrorDetail(code="SERVER_UNAVAILABLE", message="It stops.", retryable=True, retry_delay_ms=5)
    with pytest.raises(MrlmError) as caught:
        Attempts(peer()).pause_after(Failure(grpc.StatusCode.UNAVAILABLE, detail))
    assert (caught.value.retry_delay_ms, caught.value.is_retryable) == (5, True)


def test_each_status_of_grpc_has_a_code() -> None:
    codes = {
        grpc.StatusCode.CANCELLED: "CANCELLED",
        grpc.StatusCode.UNAUTHENTICATED: "UNAUTHENTICATED",
        grpc.StatusCode.UNIMPLEMENTED: "PROTOCOL_VERSION",
        grpc.StatusCode.DEADLINE_EXCEEDED: "DEADLINE_EXCEEDED",
        grpc.StatusCode.DATA_LOSS: "INTERNAL",
    }
    for status, code in codes.items():
        with pytest.raises(MrlmError) as caught:
            Attempts(peer()).pause_after(Failure(status))
        assert caught.value.code == code


def test_refused_resets_are_repeated_after_the_delay_of_the_server() -> None:
    full = MrlmError("RESOURCE_EXHAUSTED", "", is_retryable=True, retry_delay_ms=250)
    refusals = Refusals(1.0)
    assert refusals.pause_after(full) == 0.25
    with pytest.raises(MrlmError):
        Refusals(0.1).pause_after(full)
    with pytest.raises(MrlmError):
        refusals.pause_after(MrlmError("RESOURCE_EXHAUSTED", "A message is too large."))
    stopping = MrlmError("SERVER_UNAVAILABLE", "", retry_delay_ms=100)
    assert refusals.pause_after(stopping) == 0.1


def test_repeated_resets_have_higher_epochs_and_steps_the_next_index() -> None:
    session = SessionState(wire.EnvironmentRef(id="math@2"), 1_000)
    assert [session.reset_request(None, None).epoch for _ in range(2)] == [1, 2]
    session.opened(wire.ResetResponse(observation=wire.Observation(agent="agent"), lease_ms=500))
    assert [session.step_request("x", None, "stop").index for _ in range(2)] == [0, 1]
    assert session.lease_ms == 500


def test_leases_of_idle_sessions_are_renewed() -> None:
    leases = Leases()
    assert leases.due() is None
    idle, used = (SessionState(wire.EnvironmentRef(), 900) for _ in range(2))
    for session in (idle, used):
        session.is_open = True
        leases.add(session)
    assert leases.interval_s == pytest.approx(0.15)
    idle.used_at = time.monotonic() - 100
    used.used_at = time.monotonic() + 100
    request = leases.due()
    assert request is not None
    assert list(request.session_ids) == [idle.id]
    leases.renewed(request, wire.RenewResponse(gone=[idle.id]))
    assert not idle.is_open
    leases.remove(used)
    assert leases.due() is None
