"""Sampling: a decoder with its own copy of the weights, continuous batching, keyed randomness."""

from mrlm_engine.sampling.sampler import PublishResult, Sampler

__all__ = ["PublishResult", "Sampler"]
