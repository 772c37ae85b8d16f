"""Checkpoints for bit-identical resumption, and Hugging Face directories for other programs.

It reads and writes models, optimizer state, gradients and random states.
It must not know gRPC, calls or samplers.
"""
