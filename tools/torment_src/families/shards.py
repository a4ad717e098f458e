"""TFRecord shards that are cut, flipped, repaired or written by hand."""

import random
import struct

from ..base import Program, tiny
from ..case import Case, Fifo, File, Folder, Link, Node
from ..formats import tfrecord
from ..formats.jpegs import JPEGS, with_size
from ..formats.tfrecord import (BOX, ENCODED, LABEL, bytes_feature, example, field, floats_feature,
                                frame, image_features, ints_feature, varint)

_SHARD = "data/train-00000-of-00001"
_CLASSES = 4
_PLAIN = ("rgb", "grey", "progressive", "cmyk", "ycck", "dot", "line", "restart", "plain_rgb")
_DONE, _REFUSED, _EITHER = frozenset({0}), frozenset({2}), frozenset({0, 2})

Made = tuple[str, dict[str, Node], frozenset[int]]


def _good(rng: random.Random) -> bytes:
    """Returns the payload of a valid record."""
    return example(image_features(JPEGS[rng.choice(_PLAIN)], rng.randrange(1, _CLASSES)))


def _payloads(rng: random.Random) -> list[bytes]:
    return [_good(rng) for _ in range(rng.choice((1, 2, 4)))]


def _shard(payloads: list[bytes]) -> bytes:
    return b"".join(map(frame, payloads))


def _flipped(rng: random.Random, data: bytes, count: int) -> bytes:
    """Returns the data with this many different bits inverted."""
    out = bytearray(data)
    for bit in rng.sample(range(8 * len(out)), count):
        out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def _cut(rng: random.Random) -> Made:
    payloads = _payloads(rng)
    whole = _shard(payloads)
    ends = {len(_shard(payloads[:i])) for i in range(len(payloads) + 1)}
    size = rng.choice((rng.randrange(len(whole)), rng.choice(sorted(ends)), rng.randrange(1, 13)))
    return f"cut to {size} bytes", {_SHARD: File(whole[:size])}, \
        _DONE if size in ends and size else _REFUSED


def _bits(rng: random.Random) -> Made:
    count = rng.choice((1, 1, 2, 3))
    flipped = _flipped(rng, _shard(_payloads(rng)), count)
    return f"{count} bits flipped", {_SHARD: File(flipped)}, _REFUSED


def _mended_bits(rng: random.Random) -> Made:
    """Inverts bits of the message and computes its checksum from the result."""
    payloads = _payloads(rng)
    place = rng.randrange(len(payloads))
    count = rng.choice((1, 1, 2, 8, 50))
    payloads[place] = _flipped(rng, payloads[place], count)
    return f"{count} bits flipped, checksum fixed", {_SHARD: File(_shard(payloads))}, _EITHER


def _mended_cut(rng: random.Random) -> Made:
    payload = _good(rng)
    size = rng.randrange(len(payload))
    return f"message cut to {size} bytes", {_SHARD: File(frame(payload[:size]))}, _EITHER


def _frames(rng: random.Random) -> Made:
    payload = _good(rng)
    length = rng.choice((0, 1, len(payload) - 1, len(payload) + 1, 2**31, 2**32, 2**63 - 1, 2**63,
                         2**64 - 16, 2**64 - 12, 2**64 - 1))
    kinds = {
        f"length {length}": frame(payload, length),
        f"length {length} after a record": frame(payload) + frame(payload, length),
        "wrong checksum": frame(payload)[:-4] + rng.randbytes(4),
        "wrong checksum of the length": frame(payload)[:8] + rng.randbytes(4) + frame(payload)[12:],
        "plain checksum": frame(payload)[:-4] + struct.pack("<I", tfrecord.crc32c(payload)),
        "empty": b"", "zeros": bytes(rng.choice((1, 12, 16, 5000))),
        "noise": rng.randbytes(rng.choice((1, 11, 12, 100, 5000))),
        "gzip": b"\x1f\x8b\x08" + rng.randbytes(100),
        "noise behind": frame(payload) + rng.randbytes(20),
        "empty record": frame(b""), "a PNG": b"\x89PNG\r\n\x1a\n" + bytes(50)}
    kind = rng.choice(sorted(kinds))
    return kind, {_SHARD: File(kinds[kind])}, _REFUSED


def _labels(rng: random.Random) -> Made:
    label = rng.choice((-1, -2**63, 2**63 - 1, 2**31, 2**32, 2**32 + 1, _CLASSES, 5, 1001, 0, 3))
    features = image_features(JPEGS["rgb"], label)
    return f"label {label}", {_SHARD: File(frame(example(features)))}, \
        _DONE if 0 <= label < _CLASSES else _REFUSED


def _boxes(rng: random.Random) -> Made:
    sides = rng.choice(((0.5, 0.1, 0.2, 0.9), (0.1, 0.1, 0.1, 0.1), (-0.5, 0, 1, 1), (0, 0, 2, 1),
                        (float("nan"), 0, 1, 1), (0, 0, float("inf"), 1), (0, 0, 1, 1),
                        (0.2, 0.3, 0.8, 1)))
    features = image_features(JPEGS[rng.choice(_PLAIN)], 1)
    features += [(key, floats_feature(side)) for key, side in zip(BOX, sides)]
    if rng.random() < 0.3:
        features[rng.randrange(2, 6)] = rng.choice((
            (BOX[0], floats_feature(0, 0.5)), (BOX[1], ints_feature(0)), (BOX[2], floats_feature()),
            (BOX[3], bytes_feature(b"1"))))
    return f"box {sides}", {_SHARD: File(frame(example(features)))}, _EITHER


def _features(rng: random.Random) -> Made:
    jpeg = JPEGS["rgb"]
    right = image_features(jpeg, 1)
    encoded, label = right[0], right[1]
    deep = b"\x0b" * 120 + b"\x0c" * 120
    kinds: dict[str, bytes] = {
        "no image": example([label]), "no label": example([encoded]), "nothing": example([]),
        "two images": example([(ENCODED, bytes_feature(jpeg, jpeg)), label]),
        "two labels": example([encoded, (LABEL, ints_feature(1, 2))]),
        "no labels": example([encoded, (LABEL, ints_feature())]),
        "label as float": example([encoded, (LABEL, floats_feature(1.0))]),
        "label as bytes": example([encoded, (LABEL, bytes_feature(b"1"))]),
        "image as integers": example([(ENCODED, ints_feature(255, 216)), label]),
        "image as floats": example([(ENCODED, floats_feature(1.0)), label]),
        "feature without kind": example([(ENCODED, b""), label]),
        "text": b"this is not a message", "deep groups": deep + example(right),
        "field zero": b"\x02\x00" + example(right), "long varint": b"\x80" * 11 + b"\x01",
        "length beyond": b"\x0a" + varint(2**62) + b"x",
        "unknown wire type": b"\x0f" + example(right),
        "key twice": example([encoded, label, (LABEL, ints_feature(2**40))]),
        "float cut": example([*right, (BOX[0], field(2, field(1, b"abc")))])}
    kind = rng.choice(sorted(kinds))
    return f"features: {kind}", {_SHARD: File(frame(kinds[kind]))}, _REFUSED


def _unknown_features(rng: random.Random) -> Made:
    more = [(b"\xff\xfe", ints_feature(1)), (b"", b""), (b"image/height", bytes_feature(b"x"))]
    payload = example(more + image_features(JPEGS["rgb"], 1)) + field(1000, b"unknown")
    return "unknown features", {_SHARD: File(frame(payload))}, _DONE


def _images(rng: random.Random) -> Made:
    name = rng.choice(sorted(JPEGS))
    jpeg = JPEGS[name]
    cut = rng.randrange(len(jpeg))
    extent = rng.choice((0, 1, 7, 255, 4000, 65535))
    kinds = {
        f"{name} cut at {cut}": jpeg[:cut], f"{name} cut, with its end": jpeg[:cut] + b"\xff\xd9",
        f"{name} of {extent} rows": with_size(jpeg, extent, 16),
        f"{name} of {extent} columns": with_size(jpeg, 12, extent),
        f"{name} of {extent} squared": with_size(jpeg, extent, extent), name: jpeg,
        f"{name} flipped": _flipped(rng, jpeg, rng.choice((1, 2, 20))),
        f"noise in {name}": jpeg[:cut] + rng.randbytes(9) + jpeg[cut + 9:],
        f"{name} twice": jpeg + jpeg, f"noise behind {name}": jpeg + rng.randbytes(30),
        "empty": b"", "GIF": b"GIF89a" + bytes(20), "BMP": b"BM" + bytes(60), "text": b"no picture",
        "PNG": b"\x89PNG\r\n\x1a\n" + bytes(30),
        "two bytes": b"\xff\xd8",
        "no frame": b"\xff\xd8\xff\xd9",
        "many markers": b"\xff\xd8" + b"\xff\xe1\x00\x02" * 3000 + b"\xff\xd9"}
    kind = rng.choice(sorted(kinds))
    payloads = [_good(rng), example(image_features(kinds[kind], 1))]
    return f"image: {kind}", {_SHARD: File(_shard(payloads))}, _EITHER


def _folders(rng: random.Random) -> Made:
    whole = File(_shard(_payloads(rng)))
    of_two = [f"data/train-{number:05}-of-00002" for number in (0, 1)]
    kinds: dict[str, tuple[dict[str, Node], frozenset[int]]] = {
        "fifo": ({_SHARD: Fifo()}, _REFUSED),
        "fifo beside": (dict(zip(of_two, (Fifo(), whole))), _REFUSED),
        "folder in its place": ({_SHARD: Folder()}, _REFUSED),
        "dangling link": ({_SHARD: Link("absent")}, _REFUSED),
        "circle": ({_SHARD: Link("train-00000-of-00001")}, _REFUSED),
        "link": ({_SHARD: Link("../x"), "x": whole}, _DONE),
        "no files": ({"data": Folder()}, _REFUSED),
        "file as folder": ({"data": whole}, _REFUSED),
        "no folder": ({}, _REFUSED),
        "validation alone": ({"data/validation-00000-of-00001": whole}, _REFUSED),
        "name": ({"data/train-\x1b[31m\n-of-é": File(b"x")}, _REFUSED),
        "empty beside": (dict(zip(of_two, (whole, File()))), _DONE),
        "many": ({f"data/train-{i:05}-of-00040": whole for i in range(40)}, _DONE)}
    kind = rng.choice(sorted(kinds))
    return f"files: {kind}", *kinds[kind]


_KINDS = (_cut, _bits, _mended_bits, _mended_cut, _frames, _labels, _boxes, _features,
          _unknown_features, _images, _images, _images, _folders)
_VARIATIONS = ("--datasets_use_caching", "--nofuse_decode_and_crop", "--resize_method=nearest",
               "--resize_method=crop", "--forward_only", "--datasets_num_private_threads=3",
               "--datasets_parallel_interleave_cycle_length=1", "--data_format=NHWC",
               "--result_file=r.json", "--print_training_accuracy")


def make(rng: random.Random, program: Program, index: int) -> Case:
    title, files, endings = rng.choice(_KINDS)(rng)
    # A step of four images needs more records than a shard has, so every record is read.
    args = ["--data_dir=data", *tiny(data_name="imagenet", batch_size="4"), "--image_size=8",
            f"--num_classes={_CLASSES}"]
    more = rng.sample(_VARIATIONS, rng.choice((0, 0, 1, 2)))
    if "--resize_method=crop" in more and "--resize_method=nearest" in more:
        more.remove("--resize_method=nearest")
    if "--resize_method=crop" in more:
        endings |= _REFUSED
    if rng.random() < 0.05:
        more.append("--datasets_repeat_cached_sample")
        endings |= _DONE
    return Case(title, args + more, files, endings=endings)
