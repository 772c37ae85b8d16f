"""The longest sequence that a model accepts."""

from __future__ import annotations

from typing import Any


def max_positions(config: Any) -> int:
    """Returns the longest sequence in tokens; 0 if the architecture has no limit (ALiBi of BLOOM, recurrent models).

    A multimodal configuration has it in the configuration of its text model. MPT computes its ALiBi biases for
    `max_seq_len` tokens and fails for longer sequences.
    """
    text = config.get_text_config()
    return max(0, int(getattr(text, "max_position_embeddings", None) or getattr(text, "max_seq_len", None) or 0))
