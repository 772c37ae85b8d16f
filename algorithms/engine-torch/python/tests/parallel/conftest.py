"""Starts what makes ranks before any test runs."""

from parallel.world import start_server

start_server()
