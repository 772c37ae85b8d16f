"""TRL's SFTTrainer on prompt-completion rows, one JSON object with the seconds per optimizer step at the end.

Loss: `loss_type="nll"`, the mean over the completion tokens of the whole step, the end-of-sequence token that TRL adds
included. Rows come in the order of the file.
"""

import json
import tempfile

import arguments as command_line
from step_timer import StepTimer

command_line.offline()

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

from trl_settings import TimerCallback, common


def main() -> None:
    parser = command_line.parser(__doc__.splitlines()[0])
    parser.add_argument("--rows-per-step", type=int, default=128)
    parser.add_argument("--order", default="sequential", choices=["sequential", "group_by_length"])
    options = parser.parse_args()

    rows = json.loads(options.data.read_text())["rows"]
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    )
    timer = StepTimer(options.warmup)
    with tempfile.TemporaryDirectory() as output:
        config = SFTConfig(
            **common(options, output),
            per_device_train_batch_size=options.micro_batch,
            gradient_accumulation_steps=options.rows_per_step // options.micro_batch,
            train_sampling_strategy=options.order,
            loss_type="nll",
            completion_only_loss=True,
            packing=False,
        )
        trainer = SFTTrainer(
            model=model,
            args=config,
            train_dataset=Dataset.from_list(rows),
            processing_class=AutoTokenizer.from_pretrained(options.model),
            callbacks=[TimerCallback(timer)],
        )
        trainer.train()
        summary = trainer.state.log_history[-1]
    timer.report(
        peer="trl",
        algorithm="sft",
        rows_per_step=options.rows_per_step,
        tokens_per_step=float(summary["num_tokens"]) / (options.warmup + options.steps),
        mean_loss=float(summary["train_loss"]),
        micro_batch=options.micro_batch,
        order=options.order,
        attention=options.attention,
    )


if __name__ == "__main__":
    main()
