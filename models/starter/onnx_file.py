"""Writes ONNX models: messages of protocol buffers, with the fields that a graph needs."""

import struct

FLOAT, UINT8, INT64, FLOAT16 = 1, 2, 7, 10
OPERATOR_SET = 17
# The version of the format that introduced the operator set.
FORMAT_VERSION = 8
# The kinds of attributes.
AS_FLOAT, AS_INT, AS_INTS = 1, 2, 7
# The types of a field: a number, four bytes, or bytes with their length.
NUMBER, FOUR_BYTES, BYTES = 0, 5, 2


def number(value):
    """Encodes a number in groups of seven bits, lowest first. Negative numbers are encoded as two's complement."""
    value &= (1 << 64) - 1
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def field(position, value):
    """Encodes a field of a message. A list becomes several fields."""
    if isinstance(value, (list, tuple)):
        return b"".join(field(position, each) for each in value)
    if isinstance(value, int):
        return number(position << 3 | NUMBER) + number(value)
    if isinstance(value, float):
        return number(position << 3 | FOUR_BYTES) + struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return number(position << 3 | BYTES) + number(len(content)) + content


def message(fields):
    """Encodes a message from its fields by position."""
    return b"".join(field(position, value) for position, value in fields.items())


def attribute(name, value):
    """Encodes an attribute, which is a number or a list of whole numbers."""
    if isinstance(value, float):
        return message({1: name, 2: value, 20: AS_FLOAT})
    if isinstance(value, int):
        return message({1: name, 3: value, 20: AS_INT})
    return message({1: name, 8: list(value), 20: AS_INTS})


def value_info(name, kind, sizes):
    """Encodes an input or output. Sizes that are names are variable."""
    dimensions = [message({2 if isinstance(size, str) else 1: size}) for size in sizes]
    return message({1: name, 2: message({1: message({1: kind, 2: message({1: dimensions})})})})


class Graph:
    """A graph of operators."""

    def __init__(self, name):
        self.name = name
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def input(self, name, kind, sizes):
        self.inputs.append(value_info(name, kind, sizes))
        return name

    def output(self, name, kind, sizes):
        self.outputs.append(value_info(name, kind, sizes))

    def constant(self, name, kind, sizes, content):
        self.constants.append(message({1: list(sizes), 2: kind, 8: name, 9: content}))
        return name

    def integers(self, name, numbers):
        return self.constant(name, INT64, [len(numbers)], struct.pack(f"<{len(numbers)}q", *numbers))

    def float(self, name, value):
        return self.constant(name, FLOAT, [], struct.pack("<f", value))

    def node(self, operator, *inputs, output=None, **attributes):
        """Adds an operator, and returns the name of its output."""
        output = output or f"{operator}_{len(self.nodes)}"
        written = [attribute(name, value) for name, value in sorted(attributes.items())]
        self.nodes.append(message({1: inputs, 2: output, 3: output, 4: operator, 5: written}))
        return output

    def to_bytes(self):
        graph = message({1: self.nodes, 2: self.name, 5: self.constants, 11: self.inputs, 12: self.outputs})
        operators = message({2: OPERATOR_SET})
        return message({1: FORMAT_VERSION, 2: "tessera", 7: graph, 8: operators})
