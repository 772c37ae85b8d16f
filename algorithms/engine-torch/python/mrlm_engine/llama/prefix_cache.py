"""Keys and values of prompts that several rows share."""

from __future__ import annotations

import torch


class PrefixCache:
    """Prompts, each computed and kept once, and the prompt of each row.

    Attention to prompts is computed for all rows of a prompt together: rows are laid out as a grid of `prompts` x
    `places`, where `places` is the most rows that a prompt has. While every prompt has as many, and rows are in order,
    the rows are the grid, and `slots` is None; otherwise `slots` [rows] is the place of each row in the grid.
    """

    def __init__(self) -> None:
        # Keys and values of each layer [2, key_heads, prompts, columns, head_size].
        self.data: list[torch.Tensor] = []
        # Tokens of each prompt, and the prompt of each row.
        self._lengths: list[int] = []
        self._prompt_of: list[int] = []
        self.prompts = 0
        self.places = 0
        self.columns = 0
        self.slots: torch.Tensor | None = None
        # Additive mask [key_heads * prompts, 1, columns], or None while all prompts have the same length.
        self.mask: torch.Tensor | None = None

    def add(self, data: list[torch.Tensor], lengths: list[int], rows: list[int]) -> None:
        """Adds prompts of `lengths` with keys and values `data`, and `rows[i]` rows of prompt i."""
        first = len(self._lengths)
        self.data = [_joined(old, new) for old, new in zip(self.data, data, strict=True)] if self.data else data
        self._lengths += lengths
        self._prompt_of += [first + i for i, count in enumerate(rows) for _ in range(count)]
        self._arrange()

    def join(self, data: list[torch.Tensor], rows: int) -> None:
        """Adds `rows` rows of the prompt that has the length of `data`, and the prompt itself where it is not there.

        For prompts of which each has a length of its own.
        """
        length = data[0].shape[3]
        if length not in self._lengths:
            self.add(data, [length], [rows])
            return
        self._prompt_of += [self._lengths.index(length)] * rows
        self._arrange()

    def keep(self, target: list[int], source: list[int], rows: int) -> None:
        """Moves rows `source` over rows `target`, drops rows from `rows` on, and prompts without rows."""
        for to, origin in zip(target, source, strict=True):
            self._prompt_of[to] = self._prompt_of[origin]
        del self._prompt_of[rows:]
        needed = sorted(set(self._prompt_of))
        # Dropping copies the prompts that stay, so it waits until a quarter can go.
        if len(needed) <= len(self._lengths) * 3 // 4:
            place = {prompt: index for index, prompt in enumerate(needed)}
            columns = max((self._lengths[prompt] for prompt in needed), default=0)
            self.data = [data[:, :, needed, :columns] for data in self.data] if needed else []
            self._lengths = [self._lengths[prompt] for prompt in needed]
            self._prompt_of = [place[prompt] for prompt in self._prompt_of]
        self._arrange()

    def scores(self, layer: int, queries: torch.Tensor) -> torch.Tensor:
        """Scores [key_heads, rows, group, columns] of `queries` [key_heads, rows, group, head_size], which are scaled,
        against each row's prompt."""
        keys = self.data[layer][0].flatten(0, 1).transpose(1, 2)
        grid = self._grid(queries)
        products = torch.bmm(grid, keys) if self.mask is None else torch.baddbmm(self.mask, grid, keys)
        return self._rows(products, queries)

    def sums(self, layer: int, weights: torch.Tensor) -> torch.Tensor:
        """Returns the sums [key_heads, rows, group, head_size] of each row's prompt weighted by [key_heads, rows,
        group, columns].
        """
        return self._rows(torch.bmm(self._grid(weights), self.data[layer][1].flatten(0, 1)), weights)

    def _rows(self, grid: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """Returns [key_heads * prompts, places * group, width] as [key_heads, rows, group, width] of `like`."""
        spread = grid.view(like.shape[0], self.prompts * self.places, like.shape[2], grid.shape[2])
        return spread if self.slots is None else spread.index_select(1, self.slots)

    def _grid(self, by_row: torch.Tensor) -> torch.Tensor:
        """Returns [key_heads, rows, group, width] as [key_heads * prompts, places * group, width]; empty places are
        0.
        """
        heads, _, group, width = by_row.shape
        if self.slots is not None:
            spread = by_row.new_zeros(heads, self.prompts * self.places, group, width)
            by_row = spread.index_copy_(1, self.slots, by_row)
        return by_row.reshape(heads * self.prompts, self.places * group, width)

    def _arrange(self) -> None:
        self.prompts = len(self._lengths)
        self.columns = max(self._lengths, default=0)
        counts = [0] * self.prompts
        places = []
        for prompt in self._prompt_of:
            places.append(counts[prompt])
            counts[prompt] += 1
        self.places = max(counts, default=0)
        slots = [prompt * self.places + place for prompt, place in zip(self._prompt_of, places, strict=True)]
        regular = len(slots) == self.prompts * self.places and slots == list(range(len(slots)))
        device = self.data[0].device if self.data else None
        self.slots = None if regular else torch.tensor(slots, device=device)
        self.mask = None
        if self.data and min(self._lengths) < self.columns:
            lengths = torch.tensor(self._lengths, device=device)[:, None, None]
            hidden = torch.arange(self.columns, device=device) >= lengths
            mask = torch.zeros_like(hidden, dtype=self.data[0].dtype).masked_fill_(hidden, -torch.inf)
            self.mask = mask.repeat(self.data[0].shape[1], 1, 1)


def _joined(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Returns the prompts of `old`, then of `new`, with as many columns as the longer of the two."""
    columns = max(old.shape[3], new.shape[3])
    grown = [torch.nn.functional.pad(data, (0, 0, 0, columns - data.shape[3])) for data in (old, new)]
    return torch.cat(grown, 2)
