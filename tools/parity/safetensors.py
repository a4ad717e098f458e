"""The safetensors format: 8 bytes little-endian header length, a JSON header, raw data."""

import json
import os
import struct
from typing import Mapping

import numpy as np

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
           "I8": "|i1", "U8": "|u1", "BOOL": "|b1"}
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}
_ALIGNMENT = 8
_MAX_HEADER_BYTES = 100 * 2**20


class FormatError(ValueError):
    """The file is not a complete safetensors file."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise FormatError("a name occurs more than once in the header")
    return dict(pairs)


def save(path: str | os.PathLike, tensors: Mapping[str, np.ndarray]) -> None:
    """Writes the tensors, the widest elements first, so that each tensor is aligned."""
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    arrays = {name: np.asarray(tensors[name], order="C") for name in order}
    header: dict[str, object] = {}
    begin = 0
    for name, array in arrays.items():
        little = array.dtype.newbyteorder("<")
        end = begin + array.nbytes
        header[name] = {"dtype": _NAMES[little], "shape": list(array.shape),
                        "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for array in arrays.values():
            file.write(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def load(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Returns the tensors by name. Throws FormatError for an incomplete or inconsistent file."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        prefix = file.read(8)
        if len(prefix) < 8:
            raise FormatError(f"{path}: shorter than its length field")
        (length,) = struct.unpack("<Q", prefix)
        if length > min(size - 8, _MAX_HEADER_BYTES):
            raise FormatError(f"{path}: a header of {length} bytes in a file of {size}")
        header = json.loads(file.read(length), object_pairs_hook=_unique)
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    return {name: _tensor(path, name, entry, data) for name, entry in header.items()}


def _tensor(path: str | os.PathLike, name: str, entry: dict, data: bytearray) -> np.ndarray:
    if entry["dtype"] not in _DTYPES:
        raise FormatError(f"{path}: {name}: unknown dtype {entry['dtype']}")
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    count = int(np.prod(entry["shape"], dtype=np.int64))
    if not 0 <= begin <= end <= len(data) or end - begin != count * dtype.itemsize:
        raise FormatError(f"{path}: {name}: bytes {begin} to {end} do not hold {entry['shape']}")
    return np.frombuffer(data, dtype, count, begin).reshape(entry["shape"])
