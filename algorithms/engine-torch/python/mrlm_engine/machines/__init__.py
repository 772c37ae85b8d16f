"""Machines of one engine: how those that start its ranks find each other, and hear of each other's end."""
