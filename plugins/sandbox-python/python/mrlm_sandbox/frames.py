"""Texts over a descriptor, each behind its length: a little-endian 32-bit number of bytes, then UTF-8."""

import os

# Read into, so that a runner's first message makes it no room in the heap: that would be a search through memory which it shares with the zygote.
_chunk = memoryview(bytearray(1 << 16))


class FrameTooLong(Exception):
    pass


def encode(text):
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(4, "little") + data


class FrameReader:
    """Puts frames together. `longest` bytes of one are held at most."""

    def __init__(self, fd, longest=1 << 32):
        self._fd = fd
        self._longest = longest
        self._buffer = bytearray()

    def next(self):
        """The next frame that is here already, or None."""
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

    def read(self):
        """Reads what there is; False at the end. Waits if the descriptor does. Raises FrameTooLong when more has arrived than a frame may have, and was not taken."""
        count = os.readv(self._fd, [_chunk])
        self._buffer += _chunk[:count]
        if len(self._buffer) > self._longest + len(_chunk):
            raise FrameTooLong
        return count > 0

    def wait(self):
        """The next frame, or None at the end."""
        while (text := self.next()) is None:
            if not self.read():
                return None
        return text


def write(fd, text):
    """Writes a frame; waits until it has gone."""
    data = memoryview(encode(text))
    while data:
        data = data[os.write(fd, data) :]
