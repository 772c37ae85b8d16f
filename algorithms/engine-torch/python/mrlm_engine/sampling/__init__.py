"""Sampling: continuous batching, scheduling, and tokens drawn with keyed randomness.

Its decoder has a copy of the weights of its own, which changes only when weights are published.
It must not know protobuf, training or gradients.
"""

from mrlm_engine.sampling.sampler import PublishResult, Sampler

__all__ = ["PublishResult", "Sampler"]
