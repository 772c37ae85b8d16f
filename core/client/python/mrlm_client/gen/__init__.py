"""Code generated from protos/ by scripts/generate_python.py of the repository."""
