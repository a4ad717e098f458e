"""Every model of `bench`, with its twin and the twin's required counts."""

from dataclasses import dataclass
from typing import Callable

import torchvision
from torch import nn

from . import inception, mobile, nasnet, plain, residual
from .layers import Twin

IMAGENET_CLASSES = 1001
CIFAR10_CLASSES = 11
TORCHVISION_CLASSES = 1000


@dataclass(frozen=True)
class Counts:
    """Trainable numbers; 1e9 multiply-adds of convolutions and fully connected layers per image; trainable tensors, if
    known."""
    parameters: int
    gmacs: float | None = None
    tensors: int | None = None


@dataclass(frozen=True)
class Model:
    name: str
    dataset: str
    image_size: int
    num_classes: int
    counts: Counts
    # (number of classes, image size) -> the twin
    make: Callable[[int, int], nn.Module]
    # A smaller size at which every layer still has several pixels. 0: the network has only one size.
    small_size: int = 0
    aux_head: bool = False

    @property
    def label(self) -> str:
        name = f"{self.dataset}/{self.name}" if self.dataset != "imagenet" else self.name
        return f"{name}+aux" if self.aux_head else name


def _twin(define: plain.Define) -> Callable[[int, int], nn.Module]:
    return lambda num_classes, image_size: Twin(define, num_classes, image_size)


def _imagenet(name: str, size: int, define: plain.Define, parameters: int, gmacs: float,
              tensors: int | None = None, small_size: int = 0, aux_head: bool = False) -> Model:
    return Model(name, "imagenet", size, IMAGENET_CLASSES, Counts(parameters, gmacs, tensors),
                 _twin(define), small_size, aux_head)


def _cifar(name: str, define: plain.Define, parameters: int, gmacs: float) -> Model:
    return Model(name, "cifar10", 32, CIFAR10_CLASSES, Counts(parameters, gmacs), _twin(define))


def _resnet(name: str, blocks: tuple[int, ...], style: residual.Style, parameters: int,
            gmacs: float, tensors: int | None = None) -> Model:
    return _imagenet(name, 224, residual.resnet(blocks, style), parameters, gmacs, tensors, 96)


def _torchvision_model(name: str, function: str, parameters: int) -> Model:
    def make(num_classes: int, image_size: int) -> nn.Module:
        del image_size
        module = getattr(torchvision.models, function)(weights=None, num_classes=num_classes)
        for layer in module.modules():
            if isinstance(layer, (nn.Dropout, torchvision.ops.StochasticDepth)):
                layer.p = 0.0
        return module

    return Model(name, "imagenet", 224, TORCHVISION_CLASSES, Counts(parameters), make, 96)


_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3),
           152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


def _plain_models() -> list[Model]:
    return [
        _imagenet("trivial", 227, plain.trivial, 4_263_877, 0.0043, 6),
        _imagenet("lenet", 28, plain.lenet, 2_173_353, 0.0140),
        _imagenet("alexnet", 227, plain.alexnet, 61_842_345, 0.8388, 16),
        _imagenet("overfeat", 231, plain.overfeat, 145_924_969, 2.8014),
        _imagenet("vgg11", 224, plain.vgg((1, 1, 2, 2, 2)), 132_867_433, 7.6091, None, 64),
        _imagenet("vgg16", 224, plain.vgg((2, 2, 3, 3, 3)), 138_361_641, 15.4703, 32, 64),
        _imagenet("vgg19", 224, plain.vgg((2, 2, 4, 4, 4)), 143_671_337, 19.6321, None, 64),
    ]


def _inception_models() -> list[Model]:
    return [
        _imagenet("googlenet", 224, inception.googlenet, 6_999_577, 1.5827, 116),
        _imagenet("inception3", 299, inception.inception3(False), 23_819_401, 5.7132, 190),
        _imagenet("inception3", 299, inception.inception3(True), 27_145_970, 5.7189,
                  aux_head=True),
        _imagenet("inception4", 299, inception.inception4, 42_649_769, 12.2540, 300, 139),
    ]


def _resnet_models() -> list[Model]:
    rows = {50: ((25_559_081, 3.8580, 161), (25_559_081, 4.0892, 161), (25_536_361, 3.8580, 138)),
            101: ((44_551_209, 7.5702, 314), (44_551_209, 7.8014, 314),
                  (44_511_081, 7.5702, None)),
            152: ((60_194_857, 11.2824, 467), (60_194_857, 11.5136, 467),
                  (60_139_369, 11.2824, None))}
    styles = (("", residual.V1), ("_v1.5", residual.V1_5), ("_v2", residual.V2))
    return [_resnet(f"resnet{depth}{suffix}", _DEPTHS[depth], style, *counts)
            for depth, variants in rows.items()
            for (suffix, style), counts in zip(styles, variants)]


def _official_resnet_models() -> list[Model]:
    rows = {18: (11_694_249, 11_692_329, 1.8269), 34: (21_802_409, 21_800_489, 3.6766),
            50: (25_559_081, 25_551_401, 4.0892), 101: (44_551_209, 44_543_529, 7.8014),
            152: (60_194_857, 60_187_177, 11.5136), 200: (64_675_881, 64_668_201, 15.0075)}
    return [_resnet(f"official_resnet{depth}{'_v2' if v2 else ''}", _DEPTHS[depth],
                    residual.official(depth >= 50, v2), row[1 if v2 else 0], row[2])
            for depth, row in rows.items() for v2 in (False, True)]


def _small_network_models() -> list[Model]:
    return [
        _imagenet("mobilenet", 224, mobile.mobilenet, 3_506_153, 0.3008, 158, 96),
        _imagenet("nasnet", 224, nasnet.nasnet(nasnet.MOBILE), 5_291_035, 0.5636, None, 96),
        _imagenet("nasnetlarge", 331, nasnet.nasnet(nasnet.LARGE), 88_757_183, 23.7834, None, 96),
    ]


def _cifar_models() -> list[Model]:
    resnets = {20: (269_787, 269_467, 0.0406), 32: (464_219, 463_675, 0.0689),
               44: (658_651, 657_883, 0.0972), 56: (853_083, 852_091, 0.1255),
               110: (1_728_027, 1_726_027, 0.2529)}
    densenets = {(40, 12): (1_021_083, 0.2648), (100, 12): (6_983_163, 1.7695),
                 (100, 24): (27_256_059, 6.8894)}
    return [
        _cifar("trivial", plain.trivial, 56_332, 0.0001),
        _cifar("alexnet", plain.cifar_alexnet, 1_756_619, 0.0328),
        *(_cifar(f"resnet{depth}{'_v2' if v2 else ''}",
                 residual.cifar_resnet((depth - 2) // 6, v2), row[1 if v2 else 0], row[2])
          for depth, row in resnets.items() for v2 in (False, True)),
        *(_cifar(f"densenet{depth}_k{growth}", mobile.cifar_densenet((depth - 4) // 3, growth),
                 *counts)
          for (depth, growth), counts in densenets.items()),
        _cifar("nasnet", nasnet.nasnet(nasnet.CIFAR), 3_347_307, 0.5443),
    ]


def _torchvision_models() -> list[Model]:
    published = {"densenet121": 7_978_856, "densenet169": 14_149_480, "densenet201": 20_013_928,
                 "mobilenet_v2": 3_504_872, "mobilenet_v3_large": 5_483_032,
                 "resnext50_32x4d": 25_028_904, "wide_resnet50_2": 68_883_240,
                 "squeezenet1_1": 1_235_496, "shufflenet_v2_x1_0": 2_278_604,
                 "efficientnet_b0": 5_288_548}
    return [*(_torchvision_model(name, name, count) for name, count in published.items()),
            _torchvision_model("torchvision_resnet50", "resnet50", 25_557_032)]


def all_models() -> list[Model]:
    return [*_plain_models(), *_inception_models(), *_resnet_models(), *_official_resnet_models(),
            *_small_network_models(), *_cifar_models(), *_torchvision_models()]


def find(names: list[str]) -> list[Model]:
    """Returns the models of these labels. A unique name needs no dataset. Throws ValueError for an unknown name."""
    models = all_models()
    found = []
    for name in names:
        exact = [model for model in models if model.label == name]
        matches = exact or [model for model in models if model.name == name and not model.aux_head]
        if not matches:
            raise ValueError(f"unknown model {name}; accepted: {' '.join(m.label for m in models)}")
        found += matches
    return found
