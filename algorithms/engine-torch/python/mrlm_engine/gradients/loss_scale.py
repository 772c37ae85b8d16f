"""Dynamic loss scaling for float16 (Micikevicius et al., arXiv 1710.03740, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

# Defaults of torch.amp.GradScaler.
INITIAL = 65536.0
GROWTH_STEPS = 2000
SMALLEST = 1.0


@dataclass
class LossScale:
    """Factor of the gradients of a backward pass, since float16 rounds numbers below 6e-8 to zero.

    It is halved when a gradient overflows, and doubled after GROWTH_STEPS steps in which none did.
    """

    value: float = INITIAL
    # Steps applied since it last changed.
    steady_steps: int = 0

    def stepped(self) -> None:
        """Counts an applied step; doubles the scale after enough of them."""
        self.steady_steps += 1
        if self.steady_steps >= GROWTH_STEPS:
            self.value, self.steady_steps = self.value * 2, 0

    def overflowed(self) -> str:
        """Halves the scale after a gradient that was not finite. Returns a sentence for the report."""
        before = self.value
        self.value, self.steady_steps = max(SMALLEST, before / 2), 0
        return f"the loss scale of float16 goes from {before:g} to {self.value:g}"
