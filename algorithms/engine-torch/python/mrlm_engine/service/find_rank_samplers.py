"""Exchange of addresses and of a token, by which rank 0 finds the samplers of all ranks."""

from __future__ import annotations

import os
import secrets
from typing import Any

import grpc

from mrlm_engine.launcher.address import own_address
from mrlm_engine.ranks.group import Channel
from mrlm_engine.service.rank_samplers import RankAddress
from mrlm_engine.service.server import start_server


def find_rank_samplers(channel: Channel, size: int) -> list[RankAddress]:
    """On rank 0: sends every other rank a secret token and receives its address."""
    token = secrets.token_hex(16)
    for rank in range(1, size):
        channel.send(token, rank)
    return [RankAddress(channel.receive(rank), token) for rank in range(1, size)]


def listen_to_leader(state: Any, channel: Channel) -> grpc.Server:
    """On another rank: starts a server for rank 0."""
    token = channel.receive(0)
    host = own_address(os.environ["MASTER_ADDR"])
    server, port = start_server(state, host, 0, token)
    channel.send(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", 0)
    return server
