"""Answers of `Describe`, with the check of the protocol's version."""

from __future__ import annotations

from mrlm_client.codec import decode_description
from mrlm_client.errors import MrlmError
from mrlm_client.gen.mrlm.env.v1 import environment_pb2 as wire
from mrlm_client.values import Description

#: Version of mrlm.env.v1 that this package implements.
PROTOCOL_MAJOR = 1


def described(response: wire.DescribeResponse, address: str) -> list[Description]:
    if response.protocol_major != PROTOCOL_MAJOR:
        found = f"{response.protocol_major}.{response.protocol_minor}"
        message = f"The server at {address} uses version {found} of the protocol, this client uses {PROTOCOL_MAJOR}."
        raise MrlmError("PROTOCOL_VERSION", message, "Install the same version of mrlm on both sides.")
    return [decode_description(each) for each in response.environments]


def one_of(response: wire.DescribeResponse, environment: str, address: str) -> Description:
    found = described(response, address)
    if found:
        return found[0]
    message = f"The server at {address} has no environment {environment}."
    raise MrlmError("ENVIRONMENT_NOT_FOUND", message, "Start it with --environments, or correct the id.")
