"""SFT as a bare PyTorch loop over the transformers model, doing what trl_sft.py makes TRL do."""

import json

import arguments as command_line
from step_timer import StepTimer

command_line.offline()

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from completion_logprobs import collate, completion_logprobs, tokenize
from phases import Phases


def main() -> None:
    parser = command_line.parser(__doc__.splitlines()[0])
    parser.add_argument("--rows-per-step", type=int, default=128)
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    data = json.loads(options.data.read_text())["rows"]
    rows = tokenize(tokenizer, [(row["prompt"], row["completion"]) for row in data])
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    ).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.0, fused=True)
    timer, phases = StepTimer(options.warmup), Phases(options.warmup)
    tokens, total_loss = 0, 0.0

    timer.mark()
    for step in range(options.warmup + options.steps):
        batch = [rows[(step * options.rows_per_step + i) % len(rows)] for i in range(options.rows_per_step)]
        targets = sum(len(completion) for _, completion in batch)
        tokens += targets + sum(len(prompt) for prompt, _ in batch)
        optimizer.zero_grad()
        for first in range(0, len(batch), options.micro_batch):
            with phases("forward"):
                part = collate(batch[first : first + options.micro_batch], tokenizer.pad_token_id)
                loss = -completion_logprobs(model, part).sum() / targets
            with phases("backward"):
                loss.backward()
            total_loss += loss.item()
        with phases("optimizer"):
            torch.nn.utils.clip_grad_norm_(model.parameters(), options.max_grad_norm)
            optimizer.step()
        timer.mark()
        phases.end_step()

    timer.report(
        peer="bare",
        algorithm="sft",
        rows_per_step=options.rows_per_step,
        tokens_per_step=tokens / (options.warmup + options.steps),
        mean_loss=total_loss / (options.warmup + options.steps),
        micro_batch=options.micro_batch,
        attention=options.attention,
        phases_cpu_s=phases.medians(),
    )


if __name__ == "__main__":
    main()
