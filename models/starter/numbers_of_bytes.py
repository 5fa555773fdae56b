"""Converts numbers from and to the bytes of files, which are little-endian on every machine."""

import math
import struct
import sys
from array import array


def floats(content):
    """Converts bytes to single-precision numbers."""
    numbers = array("f", content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def float_bytes(numbers):
    """Converts single-precision numbers to bytes."""
    numbers = array("f", numbers)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def halves(content):
    """Converts bytes to half-precision numbers."""
    return struct.unpack(f"<{len(content) // 2}e", content)


def unit(vector):
    """Scales a vector to length 1. This uses `fsum`, because `sum` is not the same on every machine."""
    length = math.sqrt(math.fsum(value * value for value in vector))
    return [value / length for value in vector]
