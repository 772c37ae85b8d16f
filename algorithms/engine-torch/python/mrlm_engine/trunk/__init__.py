"""The trunk of a model: from tokens to the last hidden states, and back from their gradients to the weights."""
