"""Estimates of the memory that models take on a device, and of how much there is.

Its formulas follow the constants of the packages that allocate the memory.
It must not allocate what it estimates, and must not know requests or clients.
"""
