#!/usr/bin/env python3
"""Writes what TensorFlow's resizes and colour distortions make of a pattern: resizes.txt and colors.txt.

    make_pixels.py    needs tensorflow-cpu 2.21

The pattern's value at x, y in channel c is (7 x + 13 y + 29 c + x y) mod 256. A line of resizes.txt has a method, the
source's width and height, the result's width and height, and its values, row by row. A line of colors.txt has the
brightness that is added, the factors of saturation and contrast, the hue in turns, 1 if contrast comes last, and the
values of the pattern of 5 x 4 pixels after tf.image's adjustments, from 0 to 255.
"""

import pathlib

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent


def pattern(width, height):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    return ((7 * x + 13 * y + 29 * c + x * y) % 256).astype(np.uint8)


def text(values):
    return " ".join(f"{value:.6g}" for value in np.asarray(values).ravel())


lines = []
methods = tf.compat.v1.image.ResizeMethod
for name, method in (("nearest", methods.NEAREST_NEIGHBOR), ("bilinear", methods.BILINEAR),
                     ("bicubic", methods.BICUBIC), ("area", methods.AREA)):
    for (w, h), (to_w, to_h) in (((5, 4), (9, 7)), ((17, 13), (6, 5)), ((8, 3), (8, 5)), ((31, 29), (7, 11))):
        image = tf.compat.v1.image.resize_images(pattern(w, h), [to_h, to_w], method, align_corners=False)
        lines.append(f"{name} {w} {h} {to_w} {to_h} {text(image)}")
(FOLDER / "resizes.txt").write_text("\n".join(lines) + "\n")

lines = []
for brightness, saturation, contrast, hue in ((0, 1, 1, 0.15), (0.1, 0.5, 1.4, -0.2), (-0.12, 1.5, 0.6, 0.07),
                                              (0.05, 1.2, 1, 0)):
    for contrast_last in (1, 0):
        image = tf.image.adjust_brightness(tf.constant(pattern(5, 4), tf.float32) / 255, brightness)
        if not contrast_last:
            image = tf.image.adjust_contrast(image, contrast)
        image = tf.image.adjust_hue(tf.image.adjust_saturation(image, saturation), hue)
        if contrast_last:
            image = tf.image.adjust_contrast(image, contrast)
        image = tf.clip_by_value(image, 0, 1) * 255
        lines.append(f"{brightness} {saturation} {contrast} {hue} {contrast_last} {text(image)}")
(FOLDER / "colors.txt").write_text("\n".join(lines) + "\n")
