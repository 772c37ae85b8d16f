"""TRL's GRPOTrainer on forced-length completions, one JSON object with the seconds per optimizer step at the end.

Loss: `loss_type="dapo"`, which is TRL's default: -min(r A, clip(r) A) summed over completion tokens and divided by
their number in the whole step; A = (reward - group mean) / (group std + 1e-4); no KL (beta 0), one update per batch.
"""

import json
import tempfile

import arguments as command_line
from step_timer import StepTimer

command_line.offline()

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from rewards import digit_share
from trl_settings import TimerCallback, common


def main() -> None:
    parser = command_line.parser(__doc__.splitlines()[0])
    command_line.add_grpo(parser)
    parser.add_argument("--cache", default=None, help="cache_implementation of generate, for example static")
    parser.add_argument("--continuous-batching", action="store_true")
    options = parser.parse_args()

    prompts = json.loads(options.data.read_text())["prompts"]
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    )
    sequences = options.prompts_per_step * options.group_size
    timer = StepTimer(options.warmup)
    with tempfile.TemporaryDirectory() as output:
        config = GRPOConfig(
            **common(options, output),
            per_device_train_batch_size=options.micro_batch,
            gradient_accumulation_steps=sequences // options.micro_batch,
            num_generations=options.group_size,
            max_completion_length=options.completion_length,
            generation_kwargs={"min_new_tokens": options.completion_length},
            cache_implementation=options.cache,
            use_transformers_continuous_batching=options.continuous_batching,
            temperature=1.0,
            beta=0.0,
            epsilon=options.epsilon,
            num_iterations=1,
            loss_type="dapo",
            scale_rewards="group",
            shuffle_dataset=False,
        )
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=lambda completions, **_: [digit_share(text) for text in completions],
            args=config,
            train_dataset=Dataset.from_dict({"prompt": prompts}),
            processing_class=AutoTokenizer.from_pretrained(options.model),
            callbacks=[TimerCallback(timer)],
        )
        trainer.train()
        summary = trainer.state.log_history[-1]
    timer.report(
        peer="trl",
        algorithm="grpo",
        sequences_per_step=sequences,
        completion_tokens_per_step=sequences * options.completion_length,
        mean_completion_length=float(summary["completions/mean_length"]),
        micro_batch=options.micro_batch,
        attention=options.attention,
    )


if __name__ == "__main__":
    main()
