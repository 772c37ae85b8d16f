"""Starts the supervisor of the kind `native`."""

from mrlm_sandbox.native_server import main

main()
