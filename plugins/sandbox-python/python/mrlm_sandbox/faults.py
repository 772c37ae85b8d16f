"""What a submission raised, told with its own line numbers and without the frames of the sandbox."""

FILE = "submission.py"

# Characters of each part.
LONGEST = {"name": 200, "message": 10_000, "trace": 40_000}
# Frames shown at either end of a longer trace.
_SHOWN_FRAMES = 10


def describe(error, source):
    """Name, message, trace and line of an exception; `source` is the submission's text."""
    name, message = name_of(type(error)), message_of(error)
    frames = list(_frames(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename == FILE and type(error.lineno) is int:
        frames.append((error.lineno, None))
        message = str(error.msg)[: LONGEST["message"]]
    lines = source.split("\n")
    shown = [_show(frame, lines) for frame in frames[:_SHOWN_FRAMES]]
    if len(frames) > 2 * _SHOWN_FRAMES:
        shown.append(f"  ... {len(frames) - 2 * _SHOWN_FRAMES} more frames ...\n")
    shown += [_show(frame, lines) for frame in frames[_SHOWN_FRAMES:][-_SHOWN_FRAMES:]]
    head = "Traceback (most recent call last):\n" if frames else ""
    fault = {
        "name": name,
        "message": message,
        "trace": head + "".join(shown) + (f"{name}: {message}" if message else name),
    }
    if frames:
        fault["line"] = frames[-1][0]
    return fault


def name_of(kind):
    name = kind.__name__
    return name[: LONGEST["name"]] if type(name) is str else "Exception"


def message_of(error):
    """`str(error)`, of which the submission may have written the code."""
    try:
        message = str(error)
        return message[: LONGEST["message"]] if type(message) is str else str.__str__(message)[: LONGEST["message"]]
    except Exception:  # noqa: BLE001
        return ""


def _frames(traceback):
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == FILE:
            yield traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


def _show(frame, lines):
    line, function = frame
    place = f'  File "{FILE}", line {line}' + ("" if function is None else f", in {function}") + "\n"
    if line is None or not 0 < line <= len(lines):
        return place
    text = lines[line - 1].strip()[:300]
    return f"{place}    {text}\n" if text else place
