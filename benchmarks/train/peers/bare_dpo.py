"""DPO as a bare PyTorch loop over the transformers model, doing what trl_dpo.py makes TRL do."""

import argparse
import json

import arguments as command_line
from step_timer import StepTimer

command_line.offline()

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from completion_logprobs import Rows, collate, completion_logprobs, tokenize
from phases import Phases


def load(options: argparse.Namespace) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    )
    return model


def main() -> None:
    parser = command_line.parser(__doc__.splitlines()[0])
    command_line.add_dpo(parser)
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    data = json.loads(options.data.read_text())["pairs"]
    chosen = tokenize(tokenizer, [(pair["prompt"], pair["chosen"]) for pair in data])
    rejected = tokenize(tokenizer, [(pair["prompt"], pair["rejected"]) for pair in data])
    model, reference = load(options).train(), load(options).eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.0, fused=True)
    timer, phases = StepTimer(options.warmup), Phases(options.warmup)
    tokens, total_loss = 0, 0.0

    def rows_of(indices: list[int]) -> tuple[Rows, int]:
        rows = [chosen[i] for i in indices] + [rejected[i] for i in indices]
        return collate(rows, tokenizer.pad_token_id), sum(len(a) + len(b) for a, b in rows)

    def reference_sums(indices: list[int]) -> torch.Tensor:
        with torch.inference_mode():
            return completion_logprobs(reference, rows_of(indices)[0]).sum(1)

    order = [i % len(chosen) for i in range((options.warmup + options.steps) * options.pairs_per_step)]
    parts = [order[i : i + options.micro_batch] for i in range(0, len(order), options.micro_batch)]
    precomputed = [reference_sums(part) for part in parts] if options.precompute else None
    parts_per_step = options.pairs_per_step // options.micro_batch

    timer.mark()
    for step in range(options.warmup + options.steps):
        optimizer.zero_grad()
        for i in range(step * parts_per_step, (step + 1) * parts_per_step):
            with phases("reference"):
                reference_logps = precomputed[i] if precomputed else reference_sums(parts[i])
            with phases("forward"):
                rows, count = rows_of(parts[i])
                tokens += count
                ratios = completion_logprobs(model, rows).sum(1) - reference_logps.clone()
                better, worse = ratios.chunk(2)
                losses = -torch.nn.functional.logsigmoid(options.beta * (better - worse))
                loss = losses.sum() / options.pairs_per_step
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
        algorithm="dpo",
        pairs_per_step=options.pairs_per_step,
        tokens_per_step=tokens / (options.warmup + options.steps),
        mean_loss=total_loss / (options.warmup + options.steps),
        micro_batch=options.micro_batch,
        precompute=options.precompute,
        attention=options.attention,
        phases_cpu_s=phases.medians(),
    )


if __name__ == "__main__":
    main()
