"""Units of sequences, their division into micro-batches, ranks and pieces, and their layouts in memory.

The division depends on the units only, so that equal calls are divided equally.
It must not know models, weights or messages.
"""
