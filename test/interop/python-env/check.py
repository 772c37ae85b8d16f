"""Tests of the libraries on environments of python-env@1, by mrlm-client: python check.py ADDRESS PYTHON."""

import json
import random
import sys
import warnings

import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.classic import connect_four_v3
from pettingzoo.test import api_test, seed_test

import mrlm_client.gymnasium
import mrlm_client.pettingzoo

ADDRESS, PYTHON = sys.argv[1:3]
EPISODES = 40

GAMES = [
    ("CartPole-v1", {}, [0, 500], ["0", "1"]),
    ("FrozenLake-v1", {"render_mode": "ansi"}, [0, 1], ["0", "1", "2", "3"]),
    ("Taxi-v4", {}, [-2000, 20], [str(i) for i in range(6)]),
    ("Blackjack-v1", {}, [-1, 1], ["0", "1"]),
]
TURN_GAMES = [
    ("pettingzoo.classic.tictactoe_v3", {}, ["player_1", "player_2"], 9),
    ("pettingzoo.classic.connect_four_v3", {}, ["player_0", "player_1"], 7),
    ("pettingzoo.classic.rps_v2", {"max_cycles": 3}, ["player_0", "player_1"], 3),
]


def options_of(kind, name, kwargs, reward_range, **more):
    return {"kind": kind, "name": name, "kwargs": kwargs, "python": PYTHON, "reward_range": reward_range, **more}


def check_gymnasium():
    for name, kwargs, reward_range, actions in GAMES:
        options = options_of("gymnasium", name, kwargs, reward_range, max_turns=500)
        env = mrlm_client.gymnasium.Env(ADDRESS, "python-env@1", options, actions=actions)
        check_env(env, skip_render_check=True)
        env.close()


def check_pettingzoo():
    for name, kwargs, agents, actions in TURN_GAMES:
        options = options_of("pettingzoo", name, kwargs, [-1, 1], agents=agents)

        def make(options=options, actions=actions):
            texts = [str(i) for i in range(actions)]
            return mrlm_client.pettingzoo.Env(ADDRESS, "python-env@1", options, actions=texts)

        # Warnings concern observations of other kinds, such as images.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            env = make()
            api_test(env, num_cycles=100)
            env.close()
            seed_test(make, num_cycles=50)


def same_as_gymnasium():
    """Plays the same actions here and by python-env@1: lengths, rewards and ends must be equal."""
    episodes = 0
    for name, kwargs, reward_range, actions in GAMES:
        own = gymnasium.make(name, **kwargs)
        options = options_of("gymnasium", name, kwargs, reward_range, max_turns=500)
        env = mrlm_client.gymnasium.Env(ADDRESS, "python-env@1", options, actions=actions)
        for seed in range(EPISODES // len(GAMES)):
            stream = random.Random(seed)
            own.reset(seed=seed)
            env.reset(options={"task": f"train/{seed}"})
            while True:
                action = stream.randrange(len(actions))
                _, *expected, _ = own.step(action)
                _, *found, _ = env.step(action)
                assert [float(expected[0]), *expected[1:]] == found, (name, seed, expected, found)
                if expected[1] or expected[2]:
                    break
            episodes += 1
        env.close()
    return episodes


def same_as_pettingzoo():
    """Plays legal moves of connect four here and by python-env@1: agents and their rewards must be equal."""
    own = connect_four_v3.env()
    options = options_of("pettingzoo", "pettingzoo.classic.connect_four_v3", {}, [-1, 1], agents=own.possible_agents)
    env = mrlm_client.pettingzoo.Env(ADDRESS, "python-env@1", options, actions=[str(i) for i in range(7)])
    turns = 0
    for seed in range(EPISODES):
        stream = random.Random(seed)
        own.reset(seed=seed)
        moves, ends = [], {}
        for agent in own.agent_iter():
            observation, *result, _ = own.last()
            over = result[1] or result[2]
            if over:
                ends[agent] = result
            else:
                legal = [i for i, mask in enumerate(observation["action_mask"]) if mask]
                moves.append((agent, stream.choice(legal)))
            own.step(None if over else moves[-1][1])
        env.reset(options={"task": f"train/{seed}"})
        for agent, action in moves:
            assert agent == env.agent_selection
            env.step(action)
        # Agents that have ended may leave in another order.
        found = {}
        for agent in env.agent_iter():
            _, *found[agent], _ = env.last()
            env.step(None)
        assert ends == found, (seed, ends, found)
        turns += len(moves)
    env.close()
    return turns


check_gymnasium()
check_pettingzoo()
print(json.dumps({"gymnasium": same_as_gymnasium(), "pettingzoo": same_as_pettingzoo()}))
