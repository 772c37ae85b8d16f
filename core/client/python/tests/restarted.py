"""Plays `chain@1` over a restart of the server: python restarted.py ADDRESS. Prints `ready`, and waits for a line.

The server is killed and started again before that line. The last line is JSON: the code of the step under way, that of
the step after it, and the texts of a new episode before and after the restart.
"""

from __future__ import annotations

import json
import sys

from mrlm_client import Client, MrlmError, Session


def episode(session: Session) -> list[str]:
    return [session.reset(seed=1).text, session.step("x").observation.text]


def code_of_step(session: Session) -> str:
    try:
        session.step("y")
    except MrlmError as error:
        return error.code
    return ""


with Client(sys.argv[1]) as client:
    lost, later = client.open("chain@1"), client.open("chain@1")
    before = episode(lost)
    print("ready", flush=True)
    sys.stdin.readline()
    codes = [code_of_step(lost), code_of_step(lost)]
    print(json.dumps({"codes": codes, "before": before, "after": episode(later), "again": episode(lost)}))
