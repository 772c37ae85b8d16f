"""Checkpoints for a bit-identical continuation, and Hugging Face directories for everybody else."""
