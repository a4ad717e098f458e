"""Valid and invalid TFRecord files with tf.train.Example records, byte by byte."""

import struct
from typing import Sequence

_POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), reflected
_MASK_DELTA = 0xA282EAD8


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """Returns the checksum as TFRecord stores it: rotated right by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def frame(payload: bytes, length: int | None = None) -> bytes:
    """Returns a record with valid checksums, even if the length is not the payload's."""
    head = struct.pack("<Q", len(payload) if length is None else length)
    return (head + struct.pack("<I", masked_crc(head)) + payload
            + struct.pack("<I", masked_crc(payload)))


def varint(value: int) -> bytes:
    """Returns a protobuf varint. Negative numbers have 64 bits in two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    """Returns a length-delimited field of a message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def bytes_feature(*values: bytes) -> bytes:
    return field(1, b"".join(field(1, value) for value in values))


def floats_feature(*values: float) -> bytes:
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def ints_feature(*values: int) -> bytes:
    return field(3, field(1, b"".join(varint(value) for value in values)))


def example(features: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Returns an Example of (key, feature) in their order."""
    return field(1, b"".join(field(1, field(1, key) + field(2, value)) for key, value in features))


ENCODED, LABEL = b"image/encoded", b"image/class/label"
BOX = tuple(b"image/object/bbox/" + side for side in (b"xmin", b"ymin", b"xmax", b"ymax"))


def image_features(jpeg: bytes, label: int) -> list[tuple[bytes, bytes]]:
    return [(ENCODED, bytes_feature(jpeg)), (LABEL, ints_feature(label))]
