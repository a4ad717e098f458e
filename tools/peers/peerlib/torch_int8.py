"""Post-training quantisation in PyTorch for x86."""

import copy
import warnings
from typing import Callable

import torch
from torch import nn

from .work import CALIBRATION_BATCHES, NotSupportedError


def _calibrate(module: Callable, images: torch.Tensor) -> None:
    with torch.no_grad():
        for _ in range(CALIBRATION_BATCHES):
            module(torch.rand_like(images))


def quantize_fx(module: nn.Module, images: torch.Tensor) -> nn.Module:
    """Quantises with torch.ao's graph mode, which runs fused int8 layers eagerly."""
    try:
        from torch.ao.quantization import get_default_qconfig_mapping
        from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
    except ImportError as error:
        raise NotSupportedError(f"this PyTorch has no graph-mode quantisation: {error}") from error
    if "x86" not in torch.backends.quantized.supported_engines:
        raise NotSupportedError("this PyTorch has no int8 engine for x86")
    torch.backends.quantized.engine = "x86"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prepared = prepare_fx(copy.deepcopy(module).eval(), get_default_qconfig_mapping("x86"),
                                  (images,))
        except torch.fx.proxy.TraceError as error:
            raise NotSupportedError(f"graph-mode quantisation cannot trace it: {error}") from error
        _calibrate(prepared, images)
        return convert_fx(prepared)


def quantize_pt2e(module: nn.Module, images: torch.Tensor) -> Callable:
    """Quantises with torchao's quantiser for x86 and torch.compile."""
    try:
        from torchao.quantization.pt2e import move_exported_model_to_eval
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86
    except ImportError as error:
        raise NotSupportedError(f"torchao with its x86 quantiser is missing: {error}") from error
    from torch._inductor import config
    config.freezing = True
    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    with torch.no_grad():
        exported = torch.export.export(module, (images,), strict=True).module()
        prepared = prepare_pt2e(exported, quantizer)
        _calibrate(prepared, images)
        converted = move_exported_model_to_eval(convert_pt2e(prepared))
    return torch.compile(converted)
