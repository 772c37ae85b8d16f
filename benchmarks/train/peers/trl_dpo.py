"""TRL's DPOTrainer on preference pairs, one JSON object with the seconds per optimizer step at the end.

Loss: `loss_type="sigmoid"`, -log sigmoid(beta (chosen log-ratio - rejected log-ratio)) averaged over pairs. The
reference is either the starting weights run beside the policy at every step, or, with --precompute, log-probabilities
computed before the first step (and then not part of a step's time). Pairs come in the order of the file.
"""

import argparse
import json
import tempfile

import arguments as command_line
from step_timer import StepTimer

command_line.offline()

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from trl import DPOConfig, DPOTrainer

from trl_settings import TimerCallback, common


def load(options: argparse.Namespace) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    )
    return model


def main() -> None:
    parser = command_line.parser(__doc__.splitlines()[0])
    command_line.add_dpo(parser)
    parser.add_argument("--order", default="sequential", choices=["sequential", "group_by_length"])
    options = parser.parse_args()

    pairs = json.loads(options.data.read_text())["pairs"]
    timer = StepTimer(options.warmup)
    with tempfile.TemporaryDirectory() as output:
        config = DPOConfig(
            **common(options, output),
            per_device_train_batch_size=options.micro_batch,
            gradient_accumulation_steps=options.pairs_per_step // options.micro_batch,
            train_sampling_strategy=options.order,
            loss_type=["sigmoid"],
            beta=options.beta,
            precompute_ref_log_probs=options.precompute,
        )
        trainer = DPOTrainer(
            model=load(options),
            ref_model=None if options.precompute else load(options),
            args=config,
            train_dataset=Dataset.from_list(pairs),
            processing_class=AutoTokenizer.from_pretrained(options.model),
            callbacks=[TimerCallback(timer)],
        )
        trainer.train()
        summary = trainer.state.log_history[-1]
    timer.report(
        peer="trl",
        algorithm="dpo",
        pairs_per_step=options.pairs_per_step,
        tokens_per_step=float(summary["num_tokens"]) / (options.warmup + options.steps),
        mean_loss=float(summary["train_loss"]),
        micro_batch=options.micro_batch,
        precompute=options.precompute,
        attention=options.attention,
    )


if __name__ == "__main__":
    main()
