"""Checkpoints for a bit-identical continuation, and Hugging Face directories for other programs.

It reads and writes models, optimiser state, gradients and random states.
It must not know gRPC, calls or samplers.
"""
