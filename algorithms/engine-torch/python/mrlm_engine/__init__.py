"""The PyTorch engine of mrlm: holds models, samples, evaluates and updates them behind gRPC.

It knows no algorithm: the client computes losses (protos/mrlm/engine/v1/engine.proto is the contract).
"""

__version__ = "0.1.0"
PROTOCOL_MAJOR = 1
PROTOCOL_MINOR = 0
