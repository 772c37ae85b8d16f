"""Descriptions of exceptions of a submission, with its own line numbers and without the frames of the sandbox."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any

# A line number and the name of the function, None in a syntax error.
Frame = tuple[int | None, str | None]

FILE = "submission.py"

# Maximum number of characters of each part.
LONGEST = {"name": 200, "message": 10_000, "trace": 40_000}
# Frames shown at each end of a longer trace.
_SHOWN_FRAMES = 10


def describe(error: BaseException, source: str) -> dict[str, Any]:
    """Returns name, message, trace and line of an exception; `source` is the submission's text."""
    name, message = name_of(type(error)), message_of(error)
    frames: list[Frame] = list(_frames(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename == FILE and type(error.lineno) is int:
        frames.append((error.lineno, None))
        message = str(error.msg)[: LONGEST["message"]]
    lines = source.split("\n")
    shown = [_show(frame, lines) for frame in frames[:_SHOWN_FRAMES]]
    if len(frames) > 2 * _SHOWN_FRAMES:
        shown.append(f"  ... {len(frames) - 2 * _SHOWN_FRAMES} more frames ...\n")
    shown += [_show(frame, lines) for frame in frames[_SHOWN_FRAMES:][-_SHOWN_FRAMES:]]
    head = "Traceback (most recent call last):\n" if frames else ""
    fault: dict[str, Any] = {
        "name": name,
        "message": message,
        "trace": head + "".join(shown) + (f"{name}: {message}" if message else name),
    }
    if frames:
        fault["line"] = frames[-1][0]
    return fault


def name_of(kind: type) -> str:
    """Returns the name of a class, cut; the submission may have replaced it."""
    name: object = kind.__name__
    return name[: LONGEST["name"]] if type(name) is str else "Exception"


def message_of(error: BaseException) -> str:
    """Returns `str(error)`, cut. The submission may have written the code of `__str__`."""
    try:
        message = str(error)
        return message[: LONGEST["message"]] if type(message) is str else str.__str__(message)[: LONGEST["message"]]
    except Exception:
        return ""


def _frames(traceback: TracebackType | None) -> Iterator[Frame]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == FILE:
            yield traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


def _show(frame: Frame, lines: list[str]) -> str:
    line, function = frame
    place = f'  File "{FILE}", line {line}' + ("" if function is None else f", in {function}") + "\n"
    if line is None or not 0 < line <= len(lines):
        return place
    text = lines[line - 1].strip()[:300]
    return f"{place}    {text}\n" if text else place
