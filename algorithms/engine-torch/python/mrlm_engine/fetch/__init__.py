"""Models that are brought to this machine: fetched from the Hugging Face Hub, or converted from GGUF files.

A program of its own (`python -m mrlm_engine.fetch`): the engine itself reads directories and downloads nothing.
"""
