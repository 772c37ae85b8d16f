"""Learning: gradients that accumulate, the calls that make them, and the optimiser."""
