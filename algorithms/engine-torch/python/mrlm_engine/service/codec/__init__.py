"""Conversion between engine.proto's messages and the dataclasses and arrays of the packages below `service`.

Each module holds both directions of one part of the protocol. It checks what arrives, and it computes nothing.
"""
