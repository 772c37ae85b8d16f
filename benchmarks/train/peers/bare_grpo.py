"""GRPO as a bare PyTorch loop over the transformers model: the floor of what a trainer without tricks costs.

It does what trl_grpo.py makes TRL do: the same loss (token mean over the step, clipped ratio, A = (reward - group
mean) / (group std + 1e-4)), the same micro-batches, gradient clipping and fused AdamW.
"""

import json

import arguments as command_line
from step_timer import StepTimer

command_line.offline()

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from bare_decode import left_pad, sample
from phases import Phases
from rewards import digit_share


def token_losses(
    log_probabilities: torch.Tensor, old: torch.Tensor, advantages: torch.Tensor, epsilon: float
) -> torch.Tensor:
    """-min(r A, clip(r, 1 - epsilon, 1 + epsilon) A) per token, with r = exp(log_probabilities - old)."""
    ratio = torch.exp(log_probabilities - old)
    return -torch.min(ratio * advantages, ratio.clamp(1 - epsilon, 1 + epsilon) * advantages)


def main() -> None:
    parser = command_line.parser(__doc__.splitlines()[0])
    command_line.add_grpo(parser)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    prompts = json.loads(options.data.read_text())["prompts"]
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.0, fused=True)
    sequences, length = options.prompts_per_step * options.group_size, options.completion_length
    timer, phases = StepTimer(options.warmup), Phases(options.warmup)

    timer.mark()
    for step in range(options.warmup + options.steps):
        with phases("sampling"):
            first = step * options.prompts_per_step
            rows = [prompts[(first + i) % len(prompts)] for i in range(options.prompts_per_step)]
            repeated = [ids for ids in tokenizer(rows)["input_ids"] for _ in range(options.group_size)]
            ids, mask = left_pad(repeated, tokenizer.pad_token_id)
            model.eval()
            completions = sample(model, ids, mask, length, tokenizer.eos_token_id)
            model.train()
        with phases("rewards"):
            rewards = torch.tensor([digit_share(text) for text in tokenizer.batch_decode(completions)])
            groups = rewards.view(-1, options.group_size)
            advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        inputs = torch.cat([ids, completions], 1)
        attention_mask = torch.cat([mask, torch.ones_like(completions)], 1)
        optimizer.zero_grad()
        for part in torch.arange(sequences).split(options.micro_batch):
            with phases("forward"):
                logits = model(
                    input_ids=inputs[part], attention_mask=attention_mask[part], logits_to_keep=length + 1
                ).logits[:, :-1]
                targets = completions[part].unsqueeze(-1)
                log_probabilities = logits.log_softmax(-1).gather(-1, targets).squeeze(-1)
                losses = token_losses(
                    log_probabilities,
                    log_probabilities.detach(),
                    advantages.view(-1, 1)[part],
                    options.epsilon,
                )
                loss = losses.sum() / (sequences * length)
            with phases("backward"):
                loss.backward()
        with phases("optimizer"):
            torch.nn.utils.clip_grad_norm_(model.parameters(), options.max_grad_norm)
            optimizer.step()
        timer.mark()
        phases.end_step()

    timer.report(
        peer="bare",
        algorithm="grpo",
        sequences_per_step=sequences,
        completion_tokens_per_step=sequences * length,
        micro_batch=options.micro_batch,
        attention=options.attention,
        phases_cpu_s=phases.medians(),
    )


if __name__ == "__main__":
    main()
