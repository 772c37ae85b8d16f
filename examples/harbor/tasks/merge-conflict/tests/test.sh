#!/bin/sh
# The interpreter of the base, without paths and settings that the agent could have changed.
exec /usr/bin/python3 -I -S -B /tests/verify.py
