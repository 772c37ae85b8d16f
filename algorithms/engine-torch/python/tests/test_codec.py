"""The enumerations of the packages below `service` agree with engine.proto."""

from __future__ import annotations

import pytest
from tiny import create_request

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.models.request import Role
from mrlm_engine.sampling.sequence import StopReason
from mrlm_engine.service.codec.models import model_request


def test_roles_and_stop_reasons_are_numbered_as_in_the_protocol() -> None:
    assert {f"ROLE_{role.name}": int(role) for role in Role} == dict(pb.Role.items())
    found = {f"STOP_REASON_{reason.name}": int(reason) for reason in StopReason}
    assert {"STOP_REASON_UNSPECIFIED": 0, **found} == dict(sampler_pb2.StopReason.items())


def test_a_role_that_does_not_exist_is_refused() -> None:
    with pytest.raises(EngineError, match="has the role 99") as raised:
        model_request(create_request("policy", "{}", role=99))
    assert raised.value.code == "OPTIONS_INVALID"
