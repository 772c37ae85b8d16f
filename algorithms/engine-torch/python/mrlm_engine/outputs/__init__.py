"""What the engine computes from hidden states: log-probabilities, entropies and values, and their gradients."""
