"""The networks in Keras: its applications if they are the same network, otherwise definitions in this file. All take
NHWC images and return logits."""

from dataclasses import dataclass
from typing import Any, Callable

import keras
from keras import layers

from .work import NotSupportedError

_IMAGENET_CLASSES = 1001


@dataclass(frozen=True)
class Network:
    model: keras.Model
    image_size: int
    num_classes: int
    origin: str


# name in `bench` -> Keras' application, image size, number of classes
_APPLICATIONS = {
    "vgg16": ("VGG16", 224, 1001), "vgg19": ("VGG19", 224, 1001),
    "inception3": ("InceptionV3", 299, 1001),
    "mobilenet": ("MobileNetV2", 224, 1001), "mobilenet_v2": ("MobileNetV2", 224, 1000),
    "nasnet": ("NASNetMobile", 224, 1001), "nasnetlarge": ("NASNetLarge", 331, 1001),
    **{f"densenet{depth}": (f"DenseNet{depth}", 224, 1000) for depth in (121, 169, 201)},
}

_DEPTHS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def _conv(x: Any, channels: int, kernel: int, stride: int = 1, padding: str = "same",
          bias: bool = True, relu: bool = True) -> Any:
    x = layers.Conv2D(channels, kernel, stride, padding, use_bias=bias)(x)
    return layers.ReLU()(x) if relu else x


def _norm(x: Any) -> Any:
    return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)


def _bottleneck(x: Any, width: int, stride: int, project: bool, stride_on_3x3: bool) -> Any:
    """Replaces Keras' ResNet50, which has biases that `bench` and torchvision do not have, and no v1.5."""
    first, second = (1, stride) if stride_on_3x3 else (stride, 1)
    shortcut = _norm(_conv(x, 4 * width, 1, stride, bias=False, relu=False)) if project else x
    for channels, kernel, step in ((width, 1, first), (width, 3, second), (4 * width, 1, 1)):
        if kernel == 3 and step > 1:
            x = layers.ZeroPadding2D(1)(x)
        x = _conv(x, channels, kernel, step, "valid" if kernel == 3 and step > 1 else "same",
                  bias=False, relu=False)
        x = _norm(x)
        x = layers.ReLU()(x if channels == width else layers.Add()([x, shortcut]))
    return x


def _resnet(blocks: tuple[int, ...], stride_on_3x3: bool, images: Any) -> Any:
    x = layers.ZeroPadding2D(3)(images)
    x = layers.ReLU()(_norm(_conv(x, 64, 7, 2, "valid", bias=False, relu=False)))
    x = layers.MaxPooling2D(3, 2, "same")(x)
    for stage, count in enumerate(blocks):
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            x = _bottleneck(x, 64 << stage, stride, block == 0, stride_on_3x3)
    return layers.GlobalAveragePooling2D()(x)


def _alexnet(images: Any) -> Any:
    x = layers.MaxPooling2D(3, 2)(_conv(images, 64, 11, 4, "valid"))
    x = layers.MaxPooling2D(3, 2)(_conv(x, 192, 5))
    for channels in (384, 384, 256):
        x = _conv(x, channels, 3)
    x = layers.Flatten()(layers.MaxPooling2D(3, 2)(x))
    for _ in range(2):
        x = layers.Dense(4096, "relu")(x)
    return x


def _inception(x: Any, k: int, l: int, m: int, n: int, p: int, q: int) -> Any:
    pooled = layers.MaxPooling2D(3, 1, "same")(x)
    return layers.Concatenate()([_conv(x, k, 1), _conv(_conv(x, l, 1), m, 3),
                                 _conv(_conv(x, n, 1), p, 5), _conv(pooled, q, 1)])


def _googlenet(images: Any) -> Any:
    def halved(x: Any) -> Any:
        return layers.MaxPooling2D(3, 2, "same")(x)

    x = halved(_conv(images, 64, 7, 2))
    x = halved(_conv(_conv(x, 64, 1), 192, 3))
    x = _inception(x, 64, 96, 128, 16, 32, 32)
    x = halved(_inception(x, 128, 128, 192, 32, 96, 64))
    for widths in ((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64),
                   (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
                   (256, 160, 320, 32, 128, 128)):
        x = _inception(x, *widths)
    x = _inception(halved(x), 256, 160, 320, 32, 128, 128)
    x = _inception(x, 384, 192, 384, 48, 128, 128)
    return layers.GlobalAveragePooling2D()(x)


def _written() -> dict[str, tuple[Callable[[Any], Any], int]]:
    """name in `bench` -> images to features, image size."""
    networks: dict[str, tuple[Callable[[Any], Any], int]] = {
        "alexnet": (_alexnet, 227), "googlenet": (_googlenet, 224)}
    for depth, blocks in _DEPTHS.items():
        for suffix, stride_on_3x3 in (("", False), ("_v1.5", True)):
            networks[f"resnet{depth}{suffix}"] = (
                lambda x, blocks=blocks, on=stride_on_3x3: _resnet(blocks, on, x), 224)
    return networks


def make(name: str, image_size: int = 0) -> Network:
    """Returns a network with random weights. Throws NotSupportedError for an unknown name."""
    keras.utils.set_random_seed(1)
    if name in _APPLICATIONS:
        function, size, classes = _APPLICATIONS[name]
        size = image_size or size
        model = getattr(keras.applications, function)(
            weights=None, classes=classes, classifier_activation=None, input_shape=(size, size, 3))
        return Network(model, size, classes, f"keras.applications.{function}")
    written = _written()
    classes = _IMAGENET_CLASSES
    if name == "torchvision_resnet50":
        name, classes = "resnet50_v1.5", 1000
    if name not in written:
        raise NotSupportedError(f"{name} is not available in Keras; available: {' '.join([*_APPLICATIONS, *written])}")
    features, size = written[name]
    size = image_size or size
    images = keras.Input((size, size, 3))
    logits = layers.Dense(classes, dtype="float32")(features(images))
    return Network(keras.Model(images, logits), size, classes, "tools/peers in Keras")
