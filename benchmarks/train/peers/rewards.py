"""Reward of the GRPO benchmark: cheap and dense. It differs within a group, so that every group has a gradient."""


def digit_share(text: str) -> float:
    """Returns the share of characters of `text` that are digits, in [0, 1]."""
    return sum(character.isdigit() for character in text) / max(len(text), 1)
