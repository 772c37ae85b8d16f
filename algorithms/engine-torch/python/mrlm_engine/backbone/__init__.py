"""Forward passes from tokens to the last hidden states, and backward passes from their gradients to the weights.

It holds the protocol, the implementation over any transformers module, and the choice of an implementation.
It must not know losses, micro-batches or the optimizer.
"""
