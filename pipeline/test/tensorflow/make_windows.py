#!/usr/bin/env python3
"""Writes the pixels that TensorFlow decodes from image.jpg as checksums: windows.txt.

    make_windows.py    needs tensorflow-cpu 2.21 and zlib

A line has a window (x, y, width, height) and the CRC-32 of its RGB bytes without two columns at each side, from
tf.io.decode_and_crop_jpeg with the default dct_method. In those columns, TensorFlow's windows differ from its whole
image. The last line is the whole image, from tf.io.decode_jpeg.
"""

import pathlib
import random
import zlib

import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent
WINDOWS = 40
SIDE = 2

jpeg = (FOLDER / "image.jpg").read_bytes()
whole = tf.io.decode_jpeg(jpeg, channels=3).numpy()
height, width = whole.shape[:2]
choose = random.Random(1)
lines = []
for _ in range(WINDOWS):
    w, h = choose.randint(2 * SIDE + 1, width), choose.randint(1, height)
    x, y = choose.randint(0, width - w), choose.randint(0, height - h)
    pixels = tf.io.decode_and_crop_jpeg(jpeg, [y, x, h, w], channels=3).numpy()
    lines.append(f"{x} {y} {w} {h} {zlib.crc32(pixels[:, SIDE:-SIDE].tobytes())}")
lines.append(f"0 0 {width} {height} {zlib.crc32(whole[:, SIDE:-SIDE].tobytes())}")
(FOLDER / "windows.txt").write_text("\n".join(lines) + "\n")
