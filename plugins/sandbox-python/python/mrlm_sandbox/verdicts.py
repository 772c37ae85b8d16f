"""Descriptions of failed tests."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .remote import Remote

_LONGEST = 2000


def failure(error: BaseException, source: str, remote: "Remote") -> dict[str, Any]:
    """Returns the result of a test that ended with `error`."""
    if error is remote.raised:
        fault = remote.fault
        place = f" (line {fault['line']})" if "line" in fault else ""
        return {
            "verdict": "failed",
            "message": f"{_heading(fault['name'], fault['message'])}{place}"[:_LONGEST],
            "error": fault,
        }
    message = _heading(type(error).__name__, _text(error))
    if isinstance(error, AssertionError):
        line = _line(error, source)
        message = _text(error) or (f"not true: {line.removeprefix('assert ')}" if line else "an assertion failed")
        call = remote.last_call()
        if call is not None:
            message += f" [{call}]"
    return {"verdict": "failed", "message": message[:_LONGEST]}


def _heading(name: str, message: str) -> str:
    return f"{name}: {message}" if message else name


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST]
    except Exception:
        return ""


def _line(error: BaseException, source: str) -> str:
    """Returns the source line of the statement of the test that raised."""
    traceback = error.__traceback__.tb_next if error.__traceback__ else None
    lines = source.split("\n")
    found = ""
    while traceback is not None:
        name, number = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        if name.startswith("<test") and number and number <= len(lines):
            found = lines[number - 1].strip()
        traceback = traceback.tb_next
    return found[:300]
