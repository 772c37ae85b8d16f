"""Trains by TRL's GRPO on an environment that `mrlm serve` offers by ORS.

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
# Without these variables the SDK would connect to its own cloud, and look for a newer version of itself.
os.environ.update(
    OPENREWARD_SESSION_URL=arguments.url,
    OPENREWARD_API_URL=arguments.url,
    OPENREWARD_DISABLE_UPDATE_CHECK="1",
    TRL_EXPERIMENTAL_SILENCE="1",
)

from tiny_model import arithmetic, make_model, make_tokenizer, script  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402
from trl.experimental.openreward import OpenRewardSpec  # noqa: E402

# Sums, which the script can compute.
SUMS = [5]


def main() -> None:
    spec = OpenRewardSpec(arguments.url, **({"num_tasks": 64} if arguments.model else {"indices": SUMS}))
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
            train_dataset=spec.train_dataset,
            environment_factory=spec.environment_factory,
            reward_funcs=spec.reward_funcs,
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
