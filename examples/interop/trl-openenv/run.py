"""Trains by TRL's GRPO on an environment that `mrlm serve` offers by OpenEnv.

python run.py URL [--model NAME] [--steps N]

URL is the port of one environment: mrlm serve --environments math --http-port math=8080. Without --model a small model
with random weights answers by a script. The last line is JSON: rewards, gradient norms and tool calls.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tiny_model
parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("--model", help="a model of Hugging Face, for example Qwen/Qwen3-0.6B")
parser.add_argument("--steps", type=int, default=2)
arguments = parser.parse_args()
os.environ.update(TRL_EXPERIMENTAL_SILENCE="1")

from datasets import Dataset  # noqa: E402
from openenv.core.generic_client import GenericEnvClient  # noqa: E402
from tiny_model import arithmetic, make_model, make_tokenizer, script  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402


class OpenEnvTask:
    """Episode of an environment with text answers. Its public methods are the tools of the model."""

    def __init__(self) -> None:
        self._client = GenericEnvClient(base_url=arguments.url).sync()
        self._client.connect()
        self._reward: float | None = 0.0
        self._done = False

    def reset(self, task: str, **_: object) -> str:
        self._reward, self._done = 0.0, False
        return self._client.reset(task=task).observation["text"]

    def submit(self, text: str) -> str:
        """
        Answers with a text. It ends the episode, unless the environment replies to it.

        Args:
            text: The answer, in the form that the task asks for.

        Returns:
            The reply of the environment.
        """
        if self._done:
            raise ValueError("The episode has ended.")
        result = self._client.step({"message": text})
        # A step without a reward is unscored: so is the episode, and TRL leaves it out.
        scored = self._reward is not None and result.reward is not None
        self._reward = self._reward + result.reward if scored else None
        self._done = result.done
        return result.observation["text"] or "The answer was received."

    def get_reward(self) -> float | None:
        """Returns the sum of the rewards of the episode."""
        return self._reward


def main() -> None:
    # Task 5 is a sum, which the script can compute.
    tasks = [f"train/{i}" for i in range(64)] if arguments.model else ["train/5"]
    prompt = [{"role": "user", "content": "Solve the task, and submit the answer by the tool."}]
    if arguments.model:
        model, tokenizer = arguments.model, None
    else:
        tokenizer = make_tokenizer()
        model = make_model(tokenizer)
        script(model, tokenizer, arithmetic)
    with tempfile.TemporaryDirectory() as directory:
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            args=GRPOConfig(
                output_dir=directory,
                max_steps=arguments.steps,
                num_generations=4,
                per_device_train_batch_size=4,
                max_completion_length=1024,
                max_tool_calling_iterations=4,
                learning_rate=1e-3,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=not arguments.model,
                bf16=False,
                disable_tqdm=True,
                seed=0,
            ),
            train_dataset=Dataset.from_list([{"prompt": prompt, "task": task} for task in tasks]),
            environment_factory=OpenEnvTask,
        )
        trainer.train()
    steps = [each for each in trainer.state.log_history if "reward" in each]
    names = {
        "rewards": "reward",
        "reward_stds": "reward_std",
        "losses": "loss",
        "grad_norms": "grad_norm",
        "tool_calls": "tools/call_frequency",
        "tool_failures": "tools/failure_frequency",
    }
    print(json.dumps({name: [step.get(key) for step in steps] for name, key in names.items()}))


main()
