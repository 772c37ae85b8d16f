"""Code generated from protos/ by scripts/generate.py."""
