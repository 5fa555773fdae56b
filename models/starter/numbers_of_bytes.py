"""Numbers and their bytes in files, which are little-endian on every machine."""

import math
import struct
import sys
from array import array


def floats(content):
    """Single-precision numbers from their bytes."""
    numbers = array("f", content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def float_bytes(numbers):
    """The bytes of single-precision numbers."""
    numbers = array("f", numbers)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def halves(content):
    """Half-precision numbers from their bytes."""
    return struct.unpack(f"<{len(content) // 2}e", content)


def unit(vector):
    """The vector with length 1. `fsum` is the same on every machine; `sum` is not."""
    length = math.sqrt(math.fsum(value * value for value in vector))
    return [value / length for value in vector]
