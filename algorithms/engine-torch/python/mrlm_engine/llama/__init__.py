"""Dense decoders of the Llama family: the training backbone, and the decoder with KV cache and prefix cache.

Forward and backward passes are written out by hand (docs/decisions/0010-training-hot-path.md).
It must not know units' losses, samplers or when it is chosen.
"""
