"""The Python side of the Python sandboxes. The player runs a submission, the judge its tests; both kinds of sandbox share them."""
