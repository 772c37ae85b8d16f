"""Plays an environment of `mrlm serve` by Gymnasium.

python run.py ADDRESS [--episodes N]

ADDRESS is the gRPC port: mrlm serve --environments math --port 50051. The policy computes sums and answers 0 to
other tasks. The last line is JSON: episodes, sums among them, mean rewards of both.
"""

import argparse
import json
import re
from functools import partial

from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mrlm_client.gymnasium import Env

parser = argparse.ArgumentParser()
parser.add_argument("address")
parser.add_argument("--episodes", type=int, default=64)
arguments = parser.parse_args()


def terms_of(question: str) -> list[int]:
    """Returns the terms of the sum that a question asks for; none where it asks for something else."""
    found = re.search(r"What is ([-+\d ]+)\?", question)
    return [int(term.replace(" ", "")) for term in re.findall(r"[+-]? ?\d+", found[1])] if found else []


def main() -> None:
    env = Env(arguments.address, "math@2")
    check_env(env, skip_render_check=True)
    env.close()

    make = partial(Env, arguments.address, "math@2")
    # An episode has one turn: each pass begins new ones.
    envs = SyncVectorEnv([make] * 4, autoreset_mode=AutoresetMode.DISABLED)
    rewards: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(arguments.episodes // envs.num_envs):
        observations, _ = envs.reset(seed=seed * envs.num_envs)
        questions = [terms_of(observation) for observation in observations]
        _, given, terminated, _, _ = envs.step([f"<answer>{sum(terms)}</answer>" for terms in questions])
        assert all(terminated)
        for terms, reward in zip(questions, given, strict=True):
            rewards[len(terms) > 0].append(float(reward))
    envs.close()
    mean = {name: sum(rewards[key]) / max(1, len(rewards[key])) for name, key in (("sums", True), ("others", False))}
    episodes = sum(map(len, rewards.values()))
    print(json.dumps({"episodes": episodes, "sums": len(rewards[True]), "mean_rewards": mean}))


main()
