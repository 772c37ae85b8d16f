"""Sampling in plain PyTorch: left-padded prompts, a growing key-value cache, one token for every sequence per pass."""

import torch
from transformers import DynamicCache, PreTrainedModel


def left_pad(rows: list[list[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns token ids [batch, longest] and their attention mask."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return ids, mask


@torch.inference_mode()
def sample(model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor, length: int, forbidden: int) -> torch.Tensor:
    """Returns exactly `length` tokens for each row of `ids` at temperature 1; `forbidden` (EOS) is never drawn."""
    cache = DynamicCache(config=model.config)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    tokens, last = [], ids
    for _ in range(length):
        logits = model(
            input_ids=last,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits[:, -1]
        logits[:, forbidden] = -torch.inf
        last = torch.multinomial(logits.softmax(-1), 1)
        tokens.append(last)
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        positions = positions[:, -1:] + 1
    return torch.cat(tokens, 1)
