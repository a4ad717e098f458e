"""Safetensors files as weights and as batches: headers, offsets, types, names, data."""

import json
import random
import struct

from ..base import Program, tiny
from ..case import ENDINGS, Case, Fifo, File, Folder, Link, Node
from ..formats.safetensors import elements, header_of, joined

Tensors = dict[str, tuple[str, list[int]]]

_DONE, _REFUSED, _EITHER = frozenset({0}), frozenset({2}), frozenset({0, 2})
_BATCHES: Tensors = {"images": ("F32", [4, 3, 32, 32]), "labels": ("I64", [4])}


def _weights(program: Program) -> Tensors:
    return {name: ("F32", shape) for name, shape in program.variables.items()}


def _data(tensors: Tensors) -> bytes:
    """Returns small numbers for all tensors. Labels count from 0."""
    parts = []
    for dtype, shape in tensors.values():
        count = elements(shape)
        if dtype == "I64":
            parts.append(struct.pack(f"<{count}q", *(i % 4 for i in range(count))))
        else:
            parts.append(struct.pack("<f", 0.01) * count)
    return b"".join(parts)


def _headers(rng: random.Random, tensors: Tensors) -> tuple[str, bytes, frozenset[int]]:
    """Changes the length or the text of the header."""
    header, data = header_of(tensors), _data(tensors)
    text = json.dumps(header).encode()
    whole = joined(header, data)
    length = rng.choice((0, 1, len(text) - 1, len(text) + 1, 16_000_001, 2**24, 2**31, 2**32,
                         2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1, len(whole)))
    cut, first = rng.randrange(len(text)), next(iter(tensors))
    deep = rng.choice((100, 10_000, 200_000))
    kinds: dict[str, tuple[bytes, frozenset[int]]] = {
        f"length {length}": (joined(text, data, length), _REFUSED),
        "text cut": (joined(text[:cut], data), _REFUSED),
        f"{deep} deep": (joined(b'{"a":' * deep, data), _REFUSED),
        f"{deep} lists deep": (joined(b'{"a":' + b"[" * deep, data), _REFUSED),
        "spaces behind": (joined(text + b" " * 30, data), _DONE),
        "something behind": (joined(text + b"x", data), _REFUSED),
        "comma at the end": (joined(text[:-1] + b",}", data), _REFUSED),
        "byte order mark": (joined(b"\xef\xbb\xbf" + text, data), _REFUSED),
        "space before": (joined(b" " + text, data), _REFUSED),
        "list": (joined(b"[]", data), _REFUSED), "null": (joined(b"null", b""), _REFUSED),
        "empty object": (joined(b"{}", b""), _REFUSED), "no header": (bytes(8), _REFUSED),
        "no UTF-8": (joined(text.replace(first.encode(), b"\xff\xfe"), data), _REFUSED),
        "zero byte": (joined(text[:cut] + b"\x00" + text[cut:], data), _REFUSED),
        "name twice": (joined(text[:-1] + b", " + text[1:], data), _REFUSED),
        "metadata": (joined(header | {"__metadata__": {"a\x1b": "b\n"}}, data), _DONE),
        "metadata of numbers": (joined(header | {"__metadata__": {"a": 1}}, data), _REFUSED),
        "metadata as text": (joined(header | {"__metadata__": "a"}, data), _REFUSED),
        "empty file": (b"", _REFUSED), "few bytes": (whole[:rng.randrange(1, 9)], _REFUSED)}
    kind = rng.choice(sorted(kinds))
    return kind, *kinds[kind]


def _entries(rng: random.Random, tensors: Tensors) -> tuple[str, bytes, frozenset[int]]:
    """Changes one tensor's dtype, shape, offsets or name."""
    header, data = header_of(tensors), _data(tensors)
    name = rng.choice(sorted(header))
    entry = dict(header[name])
    begin, end = entry["data_offsets"]
    shape = entry["shape"]
    offsets = rng.choice(([end, begin], [begin, end - 1], [begin, end + 1], [begin + 1, end + 1],
                          [begin - 1, end - 1], [begin], [begin, end, end], [],
                          [2**63, 2**63 + end], [2**64 - 4, 2**64], [0.5, 4.5], ["0", "4"],
                          [begin, 2**100], [None, None], 5))
    shapes = rng.choice(([*shape, 2], shape[:-1] + [shape[-1] + 1], [-shape[0], -1],
                         [2**32, 2**32, *shape], [2**63], [2**64], [0], [1.0], ["1"], [[1]],
                         1, [1] * 100,
                         [0] * 9, None))
    dtype = rng.choice(("F8", "", "f32", "I8", "U8", "BOOL", "F16", "F64", "I32", "I64", 5, None,
                        ["F32"], "\x1b[31m", "F32\n"))
    other = rng.choice(("", "x", "\x1b[31m", "é", "x" * 5000, "\n", f"{name} ", "../x", "%s"))
    kinds: dict[str, dict] = {
        f"offsets {offsets}": header | {name: entry | {"data_offsets": offsets}},
        f"shape {str(shapes)[:40]}": header | {name: entry | {"shape": shapes}},
        f"dtype {dtype!r}": header | {name: entry | {"dtype": dtype}},
        "unknown member": header | {name: entry | {"x": 1}},
        "name": {(other if key == name else key): value for key, value in header.items()},
        "one more": header | {other: {"dtype": "F32", "shape": [0], "data_offsets": [end, end]}},
        "no tensor": {key: value for key, value in header.items() if key != name},
        "null": header | {name: None}, "number": header | {name: 5},
        "too many tensors": {}}
    for member in ("dtype", "shape", "data_offsets"):
        kinds[f"no {member}"] = header | {name: {k: v for k, v in entry.items() if k != member}}
    kind = rng.choice(sorted(kinds))
    if kind == "too many tensors":
        empty = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
        kinds[kind] = {f"t{i}": empty for i in range(65_537)}
    return kind, joined(kinds[kind], data), _EITHER if kind == "one more" else _REFUSED


def _contents(rng: random.Random, tensors: Tensors) -> tuple[str, bytes, frozenset[int]]:
    """Changes the data after a valid header, and flips bits anywhere."""
    header, data = header_of(tensors), bytearray(_data(tensors))
    whole = joined(header, bytes(data))
    kind = rng.choice(("right", "cut", "behind", "flipped", "special numbers", "labels"))
    match kind:
        case "cut":
            return kind, whole[:rng.randrange(len(whole) - len(data), len(whole))], _REFUSED
        case "behind":
            return kind, whole + bytes(rng.choice((1, 4, 4096))), _REFUSED
        case "flipped":
            out = bytearray(whole)
            for _ in range(rng.choice((1, 2, 20))):
                out[rng.randrange(len(whole) - len(data))] ^= 1 << rng.randrange(8)
            return kind, bytes(out), _EITHER
        case "special numbers":
            for _ in range(rng.choice((1, 50))):
                place = 4 * rng.randrange(min(begin_of_labels(header, data), len(data)) // 4)
                data[place:place + 4] = struct.pack("<f", rng.choice(
                    (float("nan"), float("inf"), float("-inf"), 3e38, -3e38, 1e-45)))
            return kind, joined(header, bytes(data)), ENDINGS
        case "labels" if "labels" in header:
            label = rng.choice((-1, 11, 2**31, 2**32, 2**63 - 1, -2**63))
            data[-8:] = struct.pack("<q", label)
            return f"label {label}", joined(header, bytes(data)), _REFUSED
    return "right", whole, _DONE


def begin_of_labels(header: dict, data: bytes | bytearray) -> int:
    return header["labels"]["data_offsets"][0] if "labels" in header else len(data)


def _nodes(rng: random.Random, whole: bytes) -> tuple[str, dict[str, Node], frozenset[int]]:
    """Puts something other than a file at the path."""
    kinds: dict[str, tuple[dict[str, Node], frozenset[int]]] = {
        "fifo": ({"in.safetensors": Fifo()}, _REFUSED),
        "folder": ({"in.safetensors": Folder()}, _REFUSED),
        "absent": ({}, _REFUSED), "dangling link": ({"in.safetensors": Link("absent")}, _REFUSED),
        "circle": ({"in.safetensors": Link("in.safetensors")}, _REFUSED),
        "link": ({"in.safetensors": Link("x"), "x": File(whole)}, _DONE),
        "device": ({"in.safetensors": Link("/dev/full")}, _REFUSED),
        "read-only": ({"in.safetensors": File(whole, 0o444)}, _DONE)}
    kind = rng.choice(sorted(kinds))
    return kind, *kinds[kind]


_VARIATIONS = ("--forward_only", "--init_from_partial", "--data_format=NHWC", "--dtype=bf16",
               "--result_file=r.json", "--deterministic_layers", "--dump_tensors=d.safetensors")


def make(rng: random.Random, program: Program, index: int) -> Case:
    flag = rng.choice(("init_from", "init_from", "input_file"))
    tensors = _weights(program) if flag == "init_from" else dict(_BATCHES)
    more = rng.sample(_VARIATIONS, rng.choice((0, 0, 1, 2)))
    if {"--dump_tensors=d.safetensors", "--result_file=r.json"} <= set(more):
        more.remove("--result_file=r.json")
    if rng.random() < 0.1:
        kind, files, endings = _nodes(rng, joined(header_of(tensors), _data(tensors)))
    else:
        kind, data, endings = rng.choice((_headers, _entries, _contents))(rng, tensors)
        files = {"in.safetensors": File(data)}
    # With some of the names the file may fit. The machine may not support a type.
    if "--init_from_partial" in more:
        endings = endings | (_EITHER if flag == "init_from" else _REFUSED)
        if flag == "input_file":
            endings = _REFUSED
    if "--dtype=bf16" in more:
        endings = endings | _REFUSED
    args = [f"--{flag}=in.safetensors", *tiny(), *more]
    return Case(f"--{flag}: {kind}", args, files, endings=endings)
