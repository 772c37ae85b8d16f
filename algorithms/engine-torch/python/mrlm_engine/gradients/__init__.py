"""Accumulation of gradients in float32 over micro-batches, lanes and ranks.

It holds the store of a model, the sinks of backward passes, and the loss scale of float16.
It must not know layers, losses or the optimizer.
"""
