"""Settings common to TRL's trainers: its own work is kept, and everything that is not training is switched off."""

import argparse
from typing import Any

from transformers import TrainerCallback

from step_timer import StepTimer


class TimerCallback(TrainerCallback):
    """A step runs from the end of the one before it: data, generation, loss, optimizer and the trainer's own work."""

    def __init__(self, timer: StepTimer) -> None:
        self.timer = timer

    def on_train_begin(self, *arguments: Any, **state: Any) -> None:
        self.timer.mark()

    def on_step_end(self, *arguments: Any, **state: Any) -> None:
        self.timer.mark()


def common(arguments: argparse.Namespace, output: str) -> dict[str, object]:
    """Keyword arguments for GRPOConfig, SFTConfig and DPOConfig.

    fp32 without checkpointing is the same numerics as the other side's. Logging, saving and progress bars are off: they
    would only make TRL slower.
    """
    return {
        "output_dir": output,
        "max_steps": arguments.warmup + arguments.steps,
        "learning_rate": arguments.learning_rate,
        "lr_scheduler_type": "constant",
        "max_grad_norm": arguments.max_grad_norm,
        "weight_decay": 0.0,
        "optim": "adamw_torch_fused",
        "seed": arguments.seed,
        "use_cpu": True,
        "bf16": False,
        "fp16": False,
        "gradient_checkpointing": False,
        "report_to": "none",
        "logging_strategy": "no",
        "save_strategy": "no",
        "disable_tqdm": True,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": False,
    }
