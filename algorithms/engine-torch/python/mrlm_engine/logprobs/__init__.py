"""Outputs from hidden states: log-probabilities, entropies and values, and their gradients.

Logits are computed in chunks of rows, so that full logits never exist for a long batch.
It must not know which backbone made the hidden states.
"""
