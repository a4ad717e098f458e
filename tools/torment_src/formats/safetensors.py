"""Valid and invalid safetensors files: 8 bytes little-endian header length, a JSON header, data."""

import json
import struct
from typing import Mapping

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4}


def elements(shape: list[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def header_of(tensors: Mapping[str, tuple[str, list[int]]]) -> dict:
    """Returns the header of consecutive tensors. Each is (dtype, shape)."""
    header, begin = {}, 0
    for name, (dtype, shape) in tensors.items():
        end = begin + elements(shape) * SIZES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
        begin = end
    return header


def joined(header: dict | bytes, data: bytes, length: int | None = None) -> bytes:
    """Returns the file of a header, as JSON or bytes, with the given or the correct length field."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def fault_of(data: bytes) -> str:
    """Returns what is wrong with a file that should be complete, or nothing."""
    if len(data) < 8:
        return f"{len(data)} bytes"
    (length,) = struct.unpack("<Q", data[:8])
    try:
        header = json.loads(data[8:8 + length])
        header.pop("__metadata__", None)
        end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        return f"invalid header: {error}"
    there = len(data) - 8 - length
    return "" if end == there else f"{there} of {end} bytes of data"
