"""Framed texts over a file descriptor: the number of bytes as a little-endian 32-bit integer, then UTF-8."""

import os

# Buffer that every read uses. Without it a runner's first message would allocate, and so write to heap pages that it
# shares with the zygote.
_chunk = memoryview(bytearray(1 << 16))


class FrameTooLong(Exception):
    """Error for a frame that is longer than its reader allows."""


def encode(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(4, "little") + data


class FrameReader:
    """Reads frames from a file descriptor. A frame has at most `longest` bytes."""

    def __init__(self, fd: int, longest: int = 1 << 32) -> None:
        self._fd = fd
        self._longest = longest
        self._buffer = bytearray()

    def next(self) -> str | None:
        """Returns the next frame that has been read, or None."""
        buffer = self._buffer
        if len(buffer) < 4:
            return None
        length = int.from_bytes(buffer[:4], "little")
        if length > self._longest:
            raise FrameTooLong
        if len(buffer) < 4 + length:
            return None
        text = buffer[4 : 4 + length].decode("utf-8", "replace")
        del buffer[: 4 + length]
        return text

    def read(self) -> bool:
        """Reads available bytes; False at the end of the file. Blocks if the descriptor does.

        Raises FrameTooLong when more bytes are buffered than one frame may have.
        """
        count = os.readv(self._fd, [_chunk])
        self._buffer += _chunk[:count]
        if len(self._buffer) > self._longest + len(_chunk):
            raise FrameTooLong
        return count > 0

    def wait(self) -> str | None:
        """Waits for the next frame; None at the end of the file."""
        while (text := self.next()) is None:
            if not self.read():
                return None
        return text


def write(fd: int, text: str) -> None:
    """Writes a whole frame; blocks until it is written."""
    data = memoryview(encode(text))
    while data:
        data = data[os.write(fd, data) :]
