"""Starts the ranks of an engine on one machine or several, and ends them together.

One process a machine runs `launch`; coordinator and participants agree before any rank starts.
It must not import torch, and must not know what ranks compute.
"""
