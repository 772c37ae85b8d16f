"""Conversion between engine.proto's messages and the dataclasses and arrays of the packages below `service`.

Each module contains both directions of one part of the protocol. It validates messages and computes nothing.
"""
