"""Messages between the ranks of one machine are signed."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.launcher.rank_environment import KEY
from mrlm_engine.ranks.messages import ForgedMessage, decode, encode


class Attack:
    """A pickle that makes a file when it is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.file,)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "00" * 32)


def test_a_signed_message_is_read() -> None:
    sequence = TokenSequence(np.array([3, 4], np.int32), np.array([1]))
    found = decode(encode({"unit": TokenUnit(7, (sequence,)), "rank": 1}))
    assert (found["unit"].index, found["rank"]) == (7, 1)
    np.testing.assert_array_equal(found["unit"].sequences[0].tokens, sequence.tokens)


def test_s1_a_forged_message_is_refused_before_it_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "touched"
    plain = pickle.dumps(Attack(file))
    monkeypatch.setenv(KEY, "01" * 32)
    of_another_run = encode(Attack(file))
    monkeypatch.setenv(KEY, "00" * 32)
    altered = bytearray(encode(Attack(file)))
    altered[-1] ^= 1
    for forged in (plain, bytes(32) + plain, of_another_run, bytes(altered), encode(Attack(file))[:-1], b""):
        with pytest.raises(ForgedMessage):
            decode(forged)
    assert not file.exists()
    decode(encode(Attack(file)))
    assert file.exists()
