"""Right-padded rows of prompt and completion, and the log-probabilities of their completion tokens."""

from dataclasses import dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass
class Rows:
    """ids and attention are [rows, longest]; mask is [rows, longest - 1], 1 where the next token is of a completion."""

    ids: torch.Tensor
    attention: torch.Tensor
    mask: torch.Tensor


def tokenize(tokenizer: PreTrainedTokenizerBase, pairs: list[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
    """Returns token ids of each (prompt, completion), EOS after the completion, as TRL does."""
    prompts = tokenizer([prompt for prompt, _ in pairs])["input_ids"]
    completions = tokenizer([completion for _, completion in pairs])["input_ids"]
    return [(a, [*b, tokenizer.eos_token_id]) for a, b in zip(prompts, completions, strict=True)]


def collate(rows: list[tuple[list[int], list[int]]], pad: int) -> Rows:
    longest = max(len(prompt) + len(completion) for prompt, completion in rows)
    ids = torch.full((len(rows), longest), pad)
    attention, mask = torch.zeros_like(ids), torch.zeros(len(rows), longest)
    for i, (prompt, completion) in enumerate(rows):
        end = len(prompt) + len(completion)
        ids[i, :end] = torch.tensor(prompt + completion)
        attention[i, :end] = 1
        mask[i, len(prompt) : end] = 1
    return Rows(ids, attention, mask[:, 1:])


def completion_logprobs(model: PreTrainedModel, rows: Rows) -> torch.Tensor:
    """log p(token | before), [rows, longest - 1], exactly 0 outside completions."""
    logits: torch.Tensor = model(input_ids=rows.ids, attention_mask=rows.attention, use_cache=False).logits[:, :-1]
    return logits.log_softmax(-1).gather(-1, rows.ids[:, 1:].unsqueeze(-1)).squeeze(-1) * rows.mask
