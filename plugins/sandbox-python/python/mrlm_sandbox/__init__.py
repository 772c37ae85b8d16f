"""The Python side of the Python sandboxes. The runner runs a submission, the checker its tests; both kinds of sandbox share them."""
