"""State of a session and of the leases of a client, which the synchronous and the asynchronous client share."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

from mrlm_client.codec import decode_observation, decode_step, encode_action
from mrlm_client.errors import HARMLESS, MrlmError
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire
from mrlm_client.values import ActionMessage, FinishReason, Observation, StepResult

#: Errors of a close that show that the session has ended, or ends with its lease.
CLOSED = ("CANCELLED", "DEADLINE_EXCEEDED", "SERVER_UNAVAILABLE", "SESSION_NOT_FOUND")
CLOSE_S = 5.0


class SessionState:
    """Numbers of a session. Every reset has a higher epoch, every step the next index of its epoch.

    A reset or step that is sent again has the same numbers, and so is carried out once.
    """

    def __init__(self, environment: wire.EnvironmentRef, lease_ms: int) -> None:
        self.id = secrets.token_bytes(16)
        self.lease_ms = lease_ms
        #: Time of the latest call that ended, in seconds of `time.monotonic`.
        self.used_at = time.monotonic()
        self.is_open = self.is_closed = False
        #: Agent whose turn it is; empty without one.
        self.agent = ""
        #: The program's session. One that the program no longer refers to is closed.
        self.owner: ref[Any] | None = None
        self._environment = environment
        self._epoch = self._index = 0
        self._is_active = False
        self._busy = threading.Lock()

    @property
    def is_known(self) -> bool:
        """Whether the server may have the session: also one whose reset failed."""
        return self._epoch > 0

    @property
    def resets(self) -> int:
        """Number of resets, with those that a server refused."""
        return self._epoch

    @property
    def is_busy(self) -> bool:
        return self._busy.locked()

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        """Surrounds a call. A session makes one at a time."""
        if self.is_closed:
            message = f"This session of {self._environment.id} has been closed."
            raise MrlmError("SESSION_NOT_FOUND", message, "Open a new session.")
        if not self._busy.acquire(blocking=False):
            message = f"A session of {self._environment.id} got a {name} while it was still working on an earlier call."
            raise MrlmError("SESSION_BUSY", message, "Wait for the earlier call, or open a session for each.")
        try:
            yield
        except MrlmError as error:
            self.is_open = self.is_open and error.code != "SESSION_NOT_FOUND"
            raise
        finally:
            self.used_at = time.monotonic()
            self._busy.release()

    def reset_request(self, seed: int | None, task: str | None) -> wire.ResetRequest:
        if seed is not None and not -(2**53) < seed < 2**53:
            raise MrlmError("OPTIONS_INVALID", f"The seed {seed} is not within ±2^53.", "Give a smaller seed.")
        self._is_active = False
        self._epoch, self._index = self._epoch + 1, 0
        return wire.ResetRequest(
            session_id=self.id,
            epoch=self._epoch,
            environment=self._environment,
            seed=seed,
            task=task or "",
            lease_ms=self.lease_ms,
        )

    def opened(self, response: wire.ResetResponse) -> Observation:
        self.lease_ms = response.lease_ms
        self.is_open = self._is_active = True
        observation = decode_observation(response.observation)
        self.agent = observation.agent
        return observation

    def step_request(self, message: ActionMessage, agent: str | None, finish_reason: FinishReason) -> wire.StepRequest:
        if not self._is_active:
            fault = "before any reset" if self._epoch == 0 else "after its episode had ended"
            message_ = f"A session of {self._environment.id} was stepped {fault}."
            raise MrlmError("EPISODE_ENDED", message_, "Reset it first.")
        action = encode_action(self.agent if agent is None else agent, message, finish_reason)
        request = wire.StepRequest(session_id=self.id, epoch=self._epoch, index=self._index, action=action)
        self._index += 1
        return request

    def stepped(self, response: wire.StepResponse) -> StepResult:
        result = decode_step(response)
        self.agent = result.observation.agent
        self._is_active = not result.has_ended
        return result

    def step_failed(self, error: BaseException) -> None:
        if not (isinstance(error, MrlmError) and error.code in HARMLESS):
            self._is_active = False


class Leases:
    """Sessions of a client whose leases it renews while they make no call for a third of their lease."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, SessionState] = {}
        self._lock = threading.Lock()

    def add(self, session: SessionState) -> None:
        with self._lock:
            self._sessions[session.id] = session

    def remove(self, session: SessionState) -> None:
        with self._lock:
            self._sessions.pop(session.id, None)

    def owners(self) -> list[Any]:
        """Returns the sessions that the program refers to."""
        with self._lock:
            owners = [session.owner() for session in self._sessions.values() if session.owner is not None]
        return [owner for owner in owners if owner is not None]

    def dropped(self) -> list[wire.CloseRequest]:
        """Removes the sessions that the program no longer refers to. Returns the requests that close them."""
        with self._lock:
            dropped = [each for each in self._sessions.values() if each.owner is not None and each.owner() is None]
            for session in dropped:
                del self._sessions[session.id]
        return [wire.CloseRequest(session_id=session.id) for session in dropped if session.is_known]

    @property
    def _open(self) -> list[SessionState]:
        with self._lock:
            return [session for session in self._sessions.values() if session.is_open]

    @property
    def interval_s(self) -> float:
        """Seconds until the next look: a sixth of the shortest lease."""
        return max(0.02, min((session.lease_ms for session in self._open), default=6_000) / 6_000)

    def due(self) -> wire.RenewRequest | None:
        """Returns the request for the sessions that are idle; None if there are none."""
        now = time.monotonic()
        idle = [each.id for each in self._open if now - each.used_at > each.lease_ms / 3_000]
        return wire.RenewRequest(session_ids=idle) if idle else None

    def renewed(self, request: wire.RenewRequest, response: wire.RenewResponse) -> None:
        now = time.monotonic()
        gone = set(response.gone)
        with self._lock:
            for session in list(map(self._sessions.get, request.session_ids)):
                if session is not None:
                    session.is_open = session.is_open and session.id not in gone
                    session.used_at = now
