"""Dense decoders of the Llama family: the training backbone, and the decoder with KV cache and prefix cache.

Forward and backward passes are written out by hand (ADR 0002, training hot path).
It must not know units' losses, samplers or when it is chosen.
"""
