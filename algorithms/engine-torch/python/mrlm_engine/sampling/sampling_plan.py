"""Drawing of the next token of the rows of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from mrlm_engine.compute.transfer import to_device
from mrlm_engine.sampling.inverse_cdf import inverse_cdf
from mrlm_engine.sampling.sequence import SamplingSettings
from mrlm_engine.sampling.support import truncated_support

# Largest number of float32 logits at a time. Rows are processed in blocks of this many elements.
LOGITS = 1 << 24
# Logits that the operations behind the product take at a time on CPU, so that they stay in cache.
CACHED_LOGITS = 1 << 20


class SamplingPlan:
    """Settings of all rows as tensors. Recreated when rows enter, leave or move."""

    def __init__(self, settings: Sequence[SamplingSettings], device: torch.device) -> None:
        self._settings = settings
        self._device = device
        temperatures = np.array([s.temperature for s in settings])
        self._greedy = to_device(temperatures == 0, device) if (temperatures == 0).any() else None
        divisors = np.where(temperatures == 0, 1.0, temperatures)
        self._divisors = None
        if (divisors != 1).any():
            self._divisors = to_device(divisors.astype(np.float32), device)[:, None]
        # Rows with top-k or top-p, on the host: a search on the device would wait for it.
        self._truncated = np.array([row for row, s in enumerate(settings) if s.truncates], np.int64)
        cut = [settings[row] for row in self._truncated]
        self._top_k = to_device(np.array([s.top_k for s in cut], np.int64), device)
        self._top_p = to_device(np.array([s.top_p for s in cut], np.float64), device)
        self._min_tokens = np.array([s.min_tokens for s in settings])
        self._may_forbid = bool(self._min_tokens.any())
        # Last mask of forbidden tokens by first row, with its rows.
        self._masks: dict[int, tuple[npt.NDArray[np.int64], torch.Tensor]] = {}

    def rows_per_piece(self, vocabulary: int) -> int:
        """Returns the number of rows whose logits are computed at a time."""
        return max(1, LOGITS // vocabulary)

    def draw(
        self, logits: torch.Tensor, first: int, uniform: torch.Tensor, counts: npt.NDArray[np.int64]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Draws for rows `first` .. `first` + n: tokens int64 [n] and log-probabilities float32 [n].

        `logits` [n, vocabulary] may be overwritten; `uniform` [n] float64; `counts` [n] tokens of each row so far. The
        log-probability is that under the full softmax at the row's temperature (1 for greedy rows), also if stop tokens
        are forbidden. With top-k or top-p it is renormalised over the remaining tokens.
        """
        n, vocabulary = logits.shape
        size = max(2, CACHED_LOGITS // vocabulary) if self._device.type == "cpu" else n
        # A last row is not taken alone: torch adds the numbers of a single row in another order.
        starts = [*range(0, n - 1, size)] or [0]
        parts = [
            self._draw(logits[start:end], first + start, uniform[start:end], counts[start:end])
            for start, end in zip(starts, [*starts[1:], n], strict=True)
        ]
        return torch.cat([tokens for tokens, _ in parts]), torch.cat([logprobs for _, logprobs in parts])

    def _draw(
        self, logits: torch.Tensor, first: int, uniform: torch.Tensor, counts: npt.NDArray[np.int64]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        n = logits.shape[0]
        scaled = logits.float()
        if self._divisors is not None:
            scaled = scaled / self._divisors[first : first + n]
        highest = scaled.amax(-1, keepdim=True)
        weights = (scaled - highest).exp_()
        log_total = weights.sum(-1).log_().add_(highest[:, 0])
        forbidden = self._forbidden(first, counts, scaled)
        if forbidden is not None:
            allowed = scaled.masked_fill(forbidden, -torch.inf)
            weights = (allowed - allowed.amax(-1, keepdim=True)).exp_()
        if len(self._truncated):
            self._truncate(first, scaled if forbidden is None else allowed, weights, log_total)
        tokens = inverse_cdf(weights, uniform)
        if self._greedy is not None:
            best = (scaled if forbidden is None else allowed).argmax(-1)
            tokens = torch.where(self._greedy[first : first + n], best, tokens)
        return tokens, scaled.gather(1, tokens[:, None])[:, 0] - log_total

    def _forbidden(self, first: int, counts: npt.NDArray[np.int64], scaled: torch.Tensor) -> torch.Tensor | None:
        """Returns the stop tokens of rows below their minimal length, bool like `scaled`; None without such rows."""
        if not self._may_forbid:
            return None
        early = np.flatnonzero(counts < self._min_tokens[first : first + len(counts)])
        if first in self._masks and np.array_equal(self._masks[first][0], early):
            return self._masks[first][1]
        pairs = [(int(row), stop) for row in early for stop in self._settings[first + int(row)].stop_token_ids]
        if not pairs:
            return None
        rows, stops = to_device(np.array(pairs, np.int64).T.copy(), self._device).unbind(0)
        forbidden = torch.zeros(scaled.shape, dtype=torch.bool, device=self._device)
        forbidden[rows, stops] = True
        self._masks[first] = (early, forbidden)
        return forbidden

    def _truncate(self, first: int, scaled: torch.Tensor, weights: torch.Tensor, log_total: torch.Tensor) -> None:
        """Zeroes the weights outside the support of rows with top-k or top-p, and renormalises."""
        start, end = np.searchsorted(self._truncated, (first, first + scaled.shape[0]))
        if start == end:
            return
        here = slice(int(start), int(end))
        rows = to_device(self._truncated[here] - first, self._device)
        kept = truncated_support(scaled[rows], self._top_k[here], self._top_p[here])
        weights[rows] = weights[rows].masked_fill(~kept, 0.0)
        log_total[rows] = scaled[rows].masked_fill(~kept, -torch.inf).logsumexp(-1)
