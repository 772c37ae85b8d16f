"""Rollout of verifiers as a program of agent@1, whose model is that of the episode. Its input is the number of a task.

The policy guesses a number, and learns after each guess whether the number is higher or lower. The task and its reward
are those of verifiers. The last line is the reward.
"""

import asyncio
import os
import random
import re
import sys
from collections.abc import Iterator

import verifiers.v1 as vf

LARGEST, GUESSES = 100, 7


class NumberData(vf.TaskData):
    number: int


class NumberTask(vf.Task[NumberData]):
    @vf.reward
    async def found(self, trace: vf.Trace) -> float:
        return float(any(guess_of(reply) == self.data.number for reply in replies(trace)))


class Numbers(vf.Taskset[NumberTask, vf.TasksetConfig]):
    def load(self) -> Iterator[NumberTask]:
        numbers = random.Random(0)
        prompt = f"Guess my number from 1 to {LARGEST}. Answer with a number alone."
        for _ in range(100):
            yield NumberTask(NumberData(prompt=prompt, number=numbers.randint(1, LARGEST)))


def replies(trace: vf.Trace) -> list[str]:
    return [str(message.content) for message in trace.branches[-1].messages if message.role == "assistant"]


def guess_of(text: str) -> int | None:
    found = re.search(r"\d+", text)
    return int(found[0]) if found else None


async def main() -> None:
    task = list(Numbers(vf.TasksetConfig()))[int(sys.stdin.read())]
    agent = vf.Agent(
        vf.AgentConfig(
            harness={"id": "one_answer"},
            runtime=vf.SubprocessConfig(),
            model="agent",
            client=vf.EvalClientConfig(base_url=os.environ["OPENAI_BASE_URL"], api_key_var="OPENAI_API_KEY"),
        )
    )
    async with agent.interaction(task) as play:
        reply = (await play.turn()).last_reply
        for _ in range(GUESSES - 1):
            guess = guess_of(reply)
            if guess == task.data.number:
                break
            hint = "That is no number" if guess is None else "Higher" if guess < task.data.number else "Lower"
            reply = (await play.turn(f"{hint}.")).last_reply
    if play.trace.errors:
        raise SystemExit(f"The rollout failed: {play.trace.errors}")
    print(play.trace.reward)


asyncio.run(main())
