"""Keys and values of running sequences: one slot for each sequence, columns in order of position."""

from __future__ import annotations

import torch

# Columns are added in blocks of this size, so that growing by a token does not move the cache each time.
COLUMN_BLOCK = 32


class KVCache:
    """Keys and values of `layers` layers, each [2, key_heads, slots, columns, head_size] (0: keys, 1: values).

    The slot of a sequence is the row it has in the running batch. Heads come before slots, so that for each head the
    rows which share a prompt are neighbours.
    """

    def __init__(self, layers: int, key_heads: int, head_size: int, dtype: torch.dtype, device: torch.device) -> None:
        self.layers = layers
        self.key_heads = key_heads
        self.head_size = head_size
        self.dtype = dtype
        self.device = device
        self.slots = 0
        self.columns = 0
        self.data: list[torch.Tensor] = []
        # Additive attention mask, [slots, 1, columns]: 0 where a row has a token, -inf elsewhere.
        self.mask = torch.empty(0, 1, 0, dtype=dtype, device=device)
        # Flat index of column 0 of each slot, [2 * key_heads, slots]: keys of each head, then values.
        self._base = torch.empty(0, dtype=torch.long, device=device)

    def bytes_for(self, slots: int, columns: int) -> int:
        """Returns the bytes over all layers of the capacity that `slots` x `columns` get, whatever was there before."""
        capacity = _capacity(slots) * _rounded(columns)
        return 2 * self.layers * self.key_heads * self.head_size * self.dtype.itemsize * capacity

    def reserve(self, slots: int, columns: int, used: int) -> None:
        """Makes room for `slots` x `columns`; the content of the first `used` slots is kept.

        A cache that is too small in one direction takes the size of what it holds now in both, so that it is never
        larger than one of its calls needed, whatever rows it had in all of them.
        """
        if slots <= self.slots and columns <= self.columns:
            return
        try:
            self._grow(_capacity(slots), _rounded(columns), used)
        except BaseException:
            # Memory ran out between two layers, so their sizes differ.
            self.data.clear()
            self.slots = self.columns = 0
            self.mask = self.mask.new_empty(0, 1, 0)
            raise

    def _grow(self, slots: int, columns: int, used: int) -> None:
        kept = min(columns, self.columns)
        for index in range(self.layers):
            # Zeroed because a masked column still takes part with weight 0, and 0 * NaN is NaN.
            shape = (2, self.key_heads, slots, columns, self.head_size)
            grown = torch.zeros(shape, dtype=self.dtype, device=self.device)
            if used:
                grown[:, :, :used, :kept] = self.data[index][:, :, :used, :kept]
            if index < len(self.data):
                self.data[index] = grown
            else:
                self.data.append(grown)
        mask = torch.full((slots, 1, columns), -torch.inf, dtype=self.dtype, device=self.device)
        mask[:used, :, :kept] = self.mask[:used, :, :kept]
        self.mask = mask
        self._base = (torch.arange(2 * self.key_heads * slots, device=self.device) * columns).view(-1, slots)
        self.slots, self.columns = slots, columns

    def write(self, layer: int, column: int | torch.Tensor, keys_values: torch.Tensor) -> None:
        """Writes [rows, 2 * key_heads, head_size] (keys, then values) to one column, or to the indices of `locate`."""
        data, by_head = self.data[layer], keys_values.transpose(0, 1)
        if isinstance(column, int):
            data.view(-1, *data.shape[2:])[:, : by_head.shape[1], column].copy_(by_head)
        else:
            data.view(-1, self.head_size).index_copy_(0, column, by_head.reshape(-1, self.head_size))

    def locate(self, positions: torch.Tensor) -> torch.Tensor:
        """Returns the indices for `write` of the token at `positions[row]` of each row, [2 * key_heads * rows].

        The column becomes visible in the mask.
        """
        rows = positions.shape[0]
        self.mask.view(-1).index_fill_(0, torch.arange(rows, device=self.device) * self.columns + positions, 0.0)
        return (self._base[:, :rows] + positions).view(-1)

    def open_rows(self, first: int, lengths: torch.Tensor) -> None:
        """Sets the mask of slots `first`, `first` + 1, ... to their `lengths`, [rows]."""
        hidden = torch.arange(self.columns, device=self.device) >= lengths[:, None]
        block = torch.zeros_like(hidden, dtype=self.dtype).masked_fill_(hidden, -torch.inf)
        self.mask[first : first + lengths.shape[0], 0] = block

    def move(self, target: torch.Tensor, source: torch.Tensor, columns: int) -> None:
        """Copies the first `columns` columns of slots `source` over slots `target`, both [n] and disjoint."""
        for data in self.data:
            data[:, :, target, :columns] = data[:, :, source, :columns]
        self.mask[target] = self.mask[source]

    def clear(self, slots: torch.Tensor) -> None:
        """Zeroes slots [n] (after a sequence whose numbers were not finite)."""
        for data in self.data:
            data[:, :, slots] = 0.0


def _capacity(slots: int) -> int:
    """Returns the slots that are allocated for `slots`: up to an eighth more, so that sequences which arrive one by one
    do not move the cache each time.
    """
    step = 1 << max(0, slots.bit_length() - 4)
    return -(-slots // step) * step


def _rounded(columns: int) -> int:
    return -(-columns // COLUMN_BLOCK) * COLUMN_BLOCK
