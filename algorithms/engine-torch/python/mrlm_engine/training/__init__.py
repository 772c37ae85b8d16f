"""Outputs and gradients of units: passes, micro-batches (in lanes and pieces), and the optimizer step.

`TrainableModel` joins a loaded model with its backbone, accumulated gradients and optimizer.
It must not know protobuf, samplers or files, nor how a backbone computes.
"""
