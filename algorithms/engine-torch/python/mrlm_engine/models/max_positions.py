"""The longest sequence that a model accepts."""

from __future__ import annotations

from typing import Any


def max_positions(config: Any) -> int:
    """Longest sequence in tokens; 0 where the architecture has no limit (ALiBi of BLOOM, recurrent models).

    A configuration of several modalities states it for its text model. MPT computes its ALiBi biases for `max_seq_len`
    tokens and fails beyond.
    """
    text = config.get_text_config()
    return max(0, int(getattr(text, "max_position_embeddings", None) or getattr(text, "max_seq_len", None) or 0))
