"""Servers of the tests, which the environment names: test/python-client/python-client.slow.ts starts them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mrlm_client import Client, Tls

README = Path(__file__).resolve().parents[1] / "README.md"


def of(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        pytest.skip(f"{name} is not set: run npm test -- test/python-client")
    return value


@pytest.fixture(scope="session")
def address() -> str:
    return of("MRLM_ADDRESS")


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address) as client:
        yield client


@dataclass
class Guarded:
    """Server with TLS and a token."""

    address: str
    token: str
    tls: Tls


@pytest.fixture(scope="session")
def guarded() -> Guarded:
    return Guarded(of("MRLM_TLS_ADDRESS"), of("MRLM_TOKEN"), Tls(ca=Path(of("MRLM_TLS_CA")).read_bytes()))


def readme_blocks(section: str) -> list[str]:
    """Returns the Python blocks of a section of the README."""
    text = README.read_text("utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)
