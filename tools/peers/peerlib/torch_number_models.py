"""The models that do not classify images, in PyTorch: a language model, recommendation, speech and detection."""

from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
import torchvision
from torch import Tensor, nn

from .work import OTHER_MODELS, NotSupportedError, Work

_WORDS, _WORDS_PER_SEQUENCE = 10_000, 35
_USERS, _ITEMS = 138_493, 26_744
_WINDOWS, _FREQUENCIES, _TEXT, _BLANK = 3494, 161, 576, 28
_BOXES, _CLASSES, _MATCHED_SHARE = 8732, 81, 0.003


@dataclass(frozen=True)
class Task:
    """A module with its inputs, and the loss of its output."""
    module: nn.Module
    inputs: tuple[Tensor, ...]
    loss: Callable[[Tensor], Tensor]


class _LanguageModel(nn.Module):
    """The medium model of Zaremba et al., arXiv:1409.2329."""

    def __init__(self, units: int = 650):
        super().__init__()
        self.embedding = nn.Embedding(_WORDS, units)
        self.dropout = nn.Dropout(0.5)
        self.lstm = nn.LSTM(units, units, num_layers=2, dropout=0.5, batch_first=True)
        self.scores = nn.Linear(units, _WORDS)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.lstm(self.dropout(self.embedding(tokens)))
        return self.scores(self.dropout(states))


def _language_model(batch: int) -> Task:
    tokens, labels = torch.randint(0, _WORDS, (2, batch, _WORDS_PER_SEQUENCE))
    return Task(_LanguageModel(), (tokens,), lambda scores: F.cross_entropy(scores.flatten(0, 1), labels.flatten()))


class _Recommender(nn.Module):
    """Neural matrix factorization with MLPerf's sizes: He et al., arXiv:1708.05031."""

    def __init__(self, factors: int = 64, features: int = 128):
        super().__init__()
        self.factors = factors
        self.user = nn.Embedding(_USERS, factors + features)
        self.item = nn.Embedding(_ITEMS, factors + features)
        self.layers = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
                                    nn.Linear(128, 64), nn.ReLU())
        self.rating = nn.Linear(128, 1)

    def forward(self, users: Tensor, items: Tensor) -> Tensor:
        user, item = self.user(users), self.item(items)
        product = user[:, :self.factors] * item[:, :self.factors]
        deep = self.layers(torch.cat([user[:, self.factors:], item[:, self.factors:]], 1))
        return self.rating(torch.cat([product, deep], 1)).squeeze(1)


def _recommender(batch: int) -> Task:
    users, items = torch.randint(0, _USERS, (batch,)), torch.randint(0, _ITEMS, (batch,))
    liked = torch.randint(0, 2, (batch,)).float()
    return Task(_Recommender(), (users, items), lambda scores: F.binary_cross_entropy_with_logits(scores, liked))


class _Sequence(nn.Module):
    """Normalises the last axis of [steps, examples, channels]."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.flatten(0, 1)).view_as(x)


class _DeepSpeech2(nn.Module):
    """Amodei et al., arXiv:1512.02595, as in tf_cnn_benchmarks. PyTorch's LSTM has a second bias per gate."""

    def __init__(self, units: int = 800, layers: int = 5):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 32, (41, 11), (2, 2), (20, 5), bias=False), nn.ReLU6(inplace=True), nn.BatchNorm2d(32),
            nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5), bias=False), nn.ReLU6(inplace=True), nn.BatchNorm2d(32))
        width = 32 * ((_FREQUENCIES + 1) // 2)
        self.norms = nn.ModuleList([nn.Identity(), *(_Sequence(2 * units) for _ in range(layers))])
        self.lstms = nn.ModuleList(nn.LSTM(width if layer == 0 else 2 * units, units, bidirectional=True)
                                   for layer in range(layers))
        self.scores = nn.Linear(2 * units, _BLANK + 1)

    def forward(self, spectrograms: Tensor) -> Tensor:
        x = self.convolutions(spectrograms).permute(2, 0, 1, 3).flatten(2)
        for norm, lstm in zip(self.norms, self.lstms):
            x, _ = lstm(norm(x))
        return self.scores(self.norms[-1](x))


def _deepspeech2(batch: int) -> Task:
    frames = torch.full((batch,), (_WINDOWS + 3) // 4)
    texts, lengths = torch.randint(0, _BLANK, (batch, _TEXT)), torch.full((batch,), _TEXT)

    def loss(scores: Tensor) -> Tensor:
        losses = F.ctc_loss(scores.float().log_softmax(2), texts, frames, lengths, _BLANK, reduction="none")
        return losses.mean()

    return Task(_DeepSpeech2(), (torch.rand(batch, 1, _WINDOWS, _FREQUENCIES),), loss)


class _Detector(nn.Module):
    """SSD with a ResNet-34 (Liu et al., arXiv:1512.02325), as in tf_cnn_benchmarks and MLPerf. Returns the offsets and
    scores of each box."""

    def __init__(self) -> None:
        super().__init__()
        resnet = torchvision.models.resnet34(weights=None)
        first = resnet.layer3[0]
        first.conv1.stride = first.downsample[0].stride = (1, 1)
        self.backbone = nn.Sequential(resnet.conv1, resnet.bn1, resnet.relu, resnet.maxpool, resnet.layer1,
                                      resnet.layer2, resnet.layer3)
        self.extra = nn.ModuleList()
        channels = [256]
        for width, stride, padding in ((256, 2, 1), (256, 2, 1), (128, 2, 1), (128, 1, 0), (128, 1, 0)):
            self.extra.append(nn.Sequential(
                nn.Conv2d(channels[-1], width, 1), nn.ReLU(inplace=True),
                nn.Conv2d(width, 2 * width, 3, stride, padding), nn.ReLU(inplace=True)))
            channels.append(2 * width)
        boxes = (4, 6, 6, 6, 4, 4)
        self.offsets = nn.ModuleList(nn.Conv2d(c, 4 * b, 3, padding=1) for c, b in zip(channels, boxes))
        self.scores = nn.ModuleList(nn.Conv2d(c, _CLASSES * b, 3, padding=1) for c, b in zip(channels, boxes))

    def forward(self, images: Tensor) -> Tensor:
        maps = [self.backbone(images)]
        for layer in self.extra:
            maps.append(layer(maps[-1]))

        def rows(heads: nn.ModuleList, numbers: int) -> Tensor:
            return torch.cat([head(x).permute(0, 2, 3, 1).reshape(len(x), -1, numbers)
                              for head, x in zip(heads, maps)], 1)

        return torch.cat([rows(self.offsets, 4), rows(self.scores, _CLASSES)], 2)


def _detector(batch: int) -> Task:
    matched = torch.rand(batch, _BOXES) < _MATCHED_SHARE
    classes = torch.randint(1, _CLASSES, (batch, _BOXES)) * matched
    targets = torch.randn(batch, _BOXES, 4)
    counts = matched.sum(1, keepdim=True)

    def loss(logits: Tensor) -> Tensor:
        """The cross-entropy of the matched boxes and of the 3 worst background boxes per match, and the Huber loss of
        the offsets."""
        offsets, scores = logits[..., :4].float(), logits[..., 4:].float()
        entropy = F.cross_entropy(scores.transpose(1, 2), classes, reduction="none")
        order = entropy.detach().masked_fill(matched, -1).argsort(1, descending=True).argsort(1)
        counted = matched | (order < 3 * counts)
        distance = F.huber_loss(offsets, targets, reduction="none").sum(2)
        return ((distance * matched + entropy * counted).sum(1) / counts.clamp(min=1).squeeze(1)).mean()

    return Task(_Detector(), (torch.rand(batch, 3, 300, 300),), loss)


_TASKS = {"lstm_lm": _language_model, "ncf": _recommender, "deepspeech2": _deepspeech2, "ssd300": _detector}
assert set(_TASKS) == set(OTHER_MODELS)


def make(work: Work) -> Task:
    """Returns the model in training mode, with random weights and inputs."""
    if work.dtype == "int8" or work.image_size:
        raise NotSupportedError(f"{work.model} has no int8 and no other image size")
    torch.manual_seed(1)
    return _TASKS[work.model](work.batch)
