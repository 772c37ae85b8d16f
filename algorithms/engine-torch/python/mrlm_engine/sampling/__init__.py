"""Sampling: continuous batching, scheduling, and tokens drawn with counter-based random numbers.

Its decoder has its own copy of the weights, which changes only when weights are published.
It must not know protobuf, training or gradients.
"""

from mrlm_engine.sampling.sampler import PublishResult, Sampler
from mrlm_engine.sampling.worker import InFlight

__all__ = ["InFlight", "PublishResult", "Sampler"]
