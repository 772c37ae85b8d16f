"""The protocol of a decoder for running batches, and its implementation over any transformers module.

Rows enter with a prompt, take one token a step, and are moved when others leave.
It must not know how tokens are drawn or when rows enter.
"""
