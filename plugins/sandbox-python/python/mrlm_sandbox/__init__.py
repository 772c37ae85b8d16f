"""Python part of the Python sandboxes, for both kinds: the runner runs a submission, the checker its tests."""
