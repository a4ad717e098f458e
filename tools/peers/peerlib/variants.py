"""Named settings of each side, for the screening. See ../METHOD.md for their meaning."""

from dataclasses import dataclass, field
from typing import Callable, Mapping, Sequence

from .work import WITHOUT_IMAGES, Work

# Large blocks stay in the process and on huge pages. Otherwise, a framework that allocates its activations in each step
# spends up to a third of it in page faults.
THP = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=8589934592:"
                         "glibc.malloc.trim_threshold=34359738368"}


@dataclass(frozen=True)
class Variant:
    name: str
    flags: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def _with_allocators(name: str, *flags: str) -> list[Variant]:
    return [Variant(f"{name}+thp", flags, THP), Variant(name, flags)]


def _divides(work: Work) -> bool:
    """Returns whether each thread can have an equal part of the batch."""
    return work.threads > 1 and work.batch % work.threads == 0


def _ours(work: Work) -> list[Variant]:
    plain = Variant("plain")
    if work.training:
        return [plain]
    # In int8, variables are constants anyway.
    frozen = () if work.dtype == "int8" else ("--freeze_when_forward_only",)
    variants = [Variant("frozen", frozen), plain] if frozen else [plain]
    if _divides(work):
        variants.append(Variant(f"{work.threads}-towers",
                                (*frozen, f"--num_gpus={work.threads}", "--num_intra_threads=1",
                                 f"--batch_size={work.batch // work.threads}")))
    return variants


def _torch_training() -> list[Variant]:
    return [*_with_allocators("eager-nhwc", "--layout=NHWC"),
            Variant("eager-nchw+thp", ("--layout=NCHW",), THP),
            Variant("compile-nhwc+thp", ("--layout=NHWC", "--compile"), THP),
            Variant("compile-nchw+thp", ("--layout=NCHW", "--compile"), THP)]


def _torch_inference(bf16: bool) -> list[Variant]:
    variants = [*_with_allocators("eager-nhwc-folded", "--layout=NHWC", "--fold"),
                Variant("eager-nhwc+thp", ("--layout=NHWC",), THP),
                Variant("eager-nchw-folded+thp", ("--layout=NCHW", "--fold"), THP),
                Variant("script-nhwc+thp", ("--layout=NHWC", "--script"), THP),
                Variant("compile-nhwc+thp", ("--layout=NHWC", "--compile"), THP),
                Variant("compile-nchw+thp", ("--layout=NCHW", "--compile"), THP)]
    if bf16:
        variants += [Variant("eager-nhwc-folded-cast+thp", ("--layout=NHWC", "--fold", "--cast"),
                             THP),
                     Variant("compile-nhwc-cast+thp", ("--layout=NHWC", "--compile", "--cast"),
                             THP)]
    return variants


def _torch_without_images(work: Work) -> list[Variant]:
    variants = [*_with_allocators("eager"), Variant("compile+thp", ("--compile",), THP)]
    if not work.training:
        variants.append(Variant("script+thp", ("--script",), THP))
    return variants


def _torch(work: Work) -> list[Variant]:
    if work.model in WITHOUT_IMAGES:
        return _torch_without_images(work)
    if work.training:
        return _torch_training()
    if work.dtype == "int8":
        return [*_with_allocators("fx-nhwc", "--layout=NHWC", "--quantizer=fx"),
                Variant("pt2e-nhwc+thp", ("--layout=NHWC", "--quantizer=pt2e"), THP)]
    return _torch_inference(work.dtype == "bf16")


def _tensorflow(work: Work) -> list[Variant]:
    variants = [*_with_allocators("function"), Variant("xla+thp", ("--compile",), THP)]
    if not work.training:
        variants.append(Variant("frozen+thp", ("--frozen",), THP))
    return variants


def _onnxruntime(work: Work) -> list[Variant]:
    if work.dtype == "int8":
        return [Variant("u8s8"), Variant("s8s8"), Variant("u8s8+thp", (), THP)]
    return [Variant("all"), Variant("all+thp", (), THP),
            Variant("extended", ("--optimize=extended",)), Variant("all-nospin", ("--nospin",))]


def _openvino(work: Work) -> list[Variant]:
    variants = [Variant("1-stream"), Variant("1-stream+thp", (), THP)]
    if _divides(work):
        variants.append(Variant(f"{work.threads}-streams+thp", (f"--streams={work.threads}",), THP))
    if work.dtype == "int8":
        variants.append(Variant("1-stream-bf16+thp", ("--rest=bf16",), THP))
    return variants


_OF_SIDE: dict[str, Callable[[Work], list[Variant]]] = {
    "ours": _ours, "torch": _torch, "tensorflow": _tensorflow, "onnxruntime": _onnxruntime,
    "openvino": _openvino}
PEERS = tuple(name for name in _OF_SIDE if name != "ours")


def variants_of(side: str, work: Work) -> list[Variant]:
    """Returns the variants in the order of trial, each name once."""
    return _OF_SIDE[side](work)
