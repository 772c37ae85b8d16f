"""Estimates of the memory that models need on a device, and of the available memory.

Its formulas follow the constants of the packages that allocate the memory.
It must not allocate what it estimates, and must not know requests or clients.
"""
