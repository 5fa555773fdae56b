"""Reads the tensors of a PyTorch checkpoint without PyTorch, and without running code that the file names."""

import collections
import dataclasses
import io
import pickle
import struct
from array import array

from build_error import BuildError
from numbers_of_bytes import floats

MAGIC = 0x1950A86A20F9469CFC6C


@dataclasses.dataclass(frozen=True)
class Tensor:
    """The numbers of a tensor, row by row, with the size of each dimension."""

    sizes: tuple
    numbers: array


@dataclasses.dataclass(frozen=True)
class StoredTensor:
    """The location of a tensor's numbers, which follow all descriptions."""

    key: str
    offset: int
    sizes: tuple
    strides: tuple


class TensorUnpickler(pickle.Unpickler):
    """Creates descriptions of tensors, and refuses everything else that a pickle can name."""

    ALLOWED = {
        ("collections", "OrderedDict"): collections.OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): lambda key, offset, sizes, strides, *_: StoredTensor(
            key, offset, tuple(sizes), tuple(strides)
        ),
        ("torch", "FloatStorage"): "FloatStorage",
        ("torch", "LongStorage"): "LongStorage",
    }

    def __init__(self, file, kinds):
        """Fills `kinds` with the kind of each storage by its key."""
        super().__init__(file)
        self.kinds = kinds

    def find_class(self, module, name):
        if (module, name) not in self.ALLOWED:
            raise BuildError(
                f"the checkpoint names {module}.{name}, which is not part of a table of tensors; use another package"
            )
        return self.ALLOWED[module, name]

    def persistent_load(self, description):
        kind, storage, key = description[:3]
        if kind != "storage":
            raise BuildError(f"the checkpoint contains a {kind}, which is not a tensor; use another package")
        self.kinds[key] = storage
        return key


def read_checkpoint(content):
    """Returns the tensors of floating-point numbers by name."""
    file, kinds = io.BytesIO(content), {}

    def load():
        return TensorUnpickler(file, kinds).load()

    if load() != MAGIC:
        raise BuildError("the checkpoint has another format than that of PyTorch 1.5; use another package")
    _protocol, _machine = load(), load()
    described, keys = load(), load()
    stored = {}
    for key in keys:
        (count,) = struct.unpack("<q", file.read(8))
        if kinds[key] == "FloatStorage":
            stored[key] = floats(file.read(4 * count))
        else:
            file.seek(8 * count, io.SEEK_CUR)
    return {name: tensor(it, stored) for name, it in described.items() if it.key in stored}


def tensor(description, stored):
    """Returns the numbers row by row. Files of other programs often have them column by column."""
    positions = [description.offset]
    for size, stride in zip(description.sizes, description.strides):
        positions = [begin + step * stride for begin in positions for step in range(size)]
    numbers = stored[description.key]
    return Tensor(description.sizes, array("f", [numbers[at] for at in positions]))
