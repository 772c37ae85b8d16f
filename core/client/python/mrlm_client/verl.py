"""Reward function for verl. Imports nothing of verl."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from mrlm_client.client import Client
from mrlm_client.errors import MrlmError
from mrlm_client.settings import connection
from mrlm_client.values import one_agent

#: Name of the extra field of a trajectory whose reward could not be computed.
UNSCORED = "mrlm_unscored"


@functools.cache
def client_of(address: str, token_env: str | None, ca_file: str | None) -> Client:
    return Client(address, **connection(token_env, ca_file))


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    address: str,
    environment: str | None = None,
    options: Mapping[str, Any] | None = None,
    token_env: str | None = None,
    ca_file: str | None = None,
    **_: Any,
) -> float:
    """Returns the reward of a response: the answer to `extra_info["task"]`, or the total of the tools' rewards.

    The first four arguments come from verl, the others from `reward_kwargs`. `environment` is by default the data
    source of the row. `ground_truth` is ignored: the server has it.

    Raises:
        MrlmError: the reward could not be computed. It is no 0.
    """
    info = extra_info or {}
    if info.get(UNSCORED) is not None:
        code, message = info[UNSCORED]
        raise MrlmError(code, message, "Leave the episode out. This is no reward of 0.")
    if info.get("tool_rewards"):
        return float(sum(info["tool_rewards"]))
    with client_of(address, token_env, ca_file).open(environment or data_source, options) as session:
        one_agent(session.description, "verl")
        session.reset(task=info["task"])
        result = session.step(solution_str)
    reward = result.reward()
    if not result.has_ended:
        message = f"The episode of {session.description.id} did not end with the response."
        raise MrlmError("OPTIONS_INVALID", message, "Use mrlm_client.verl_tool for environments of several turns.")
    return reward
