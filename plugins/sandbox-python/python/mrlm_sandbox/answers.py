"""First answers of a submission to questions about its objects."""

_ENTRY = 300  # Characters that an answer counts in addition, for its place in memory.


class Answers:
    """Answers by their questions."""

    def __init__(self) -> None:
        self._kept: dict[str, list[str]] = {}
        self.size = 0  # In characters.

    def get(self, question: str) -> list[str] | None:
        return self._kept.get(question)

    def keep(self, question: str, answer: list[str]) -> None:
        self._kept[question] = answer
        self.size += len(question) + sum(map(len, answer)) + _ENTRY

    def clear(self) -> None:
        self._kept.clear()
        self.size = 0
