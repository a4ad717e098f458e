#!/usr/bin/python3
"""Compares `bench` with PyTorch: same weights, same batch, dropout off. See parity/README.md.

    parity_torch.py --models=resnet50,cifar10/resnet20 --bench=build/release/bin/bench
    parity_torch.py --all
    parity_torch.py --curve
    parity_torch.py --check_twins
"""

import argparse
import dataclasses
import importlib.util
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import torch  # noqa: E402

from parity import check_twins, curve, zoo  # noqa: E402
from parity.compare import Limits  # noqa: E402
from parity.parity import HEADER, Plan, compare_model  # noqa: E402
from parity.program import Program  # noqa: E402

_ROOT = Path(__file__).resolve().parent.parent
_MODES = ("train", "forward")
_CURVES = (("lenet", "sgd", 0.005), ("cifar10/resnet20", "momentum", 0.001))


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_argument_group("what")
    what.add_argument("--models", default="", help="comma-separated names, as --list "
                      "prints them")
    what.add_argument("--all", action="store_true", help="every model of the zoo")
    what.add_argument("--list", action="store_true", help="print the models' names and exit")
    what.add_argument("--check_twins", action="store_true",
                      help="count the twins' parameters, tensors and multiply-adds, and exit")
    what.add_argument("--curve", action="store_true", help="compare loss curves, not one step")
    what.add_argument("--twin", type=Path, help="a file with build(num_classes, image_size) -> "
                      "torch.nn.Module, for the one model named by --models")
    what.add_argument("--data_name", default="imagenet", help="with --twin: the model's dataset")
    what.add_argument("--num_classes", type=int, default=0, help="0: the model's own")

    how = parser.add_argument_group("how")
    how.add_argument("--bench", type=Path, default=_ROOT / "build/release/bin/bench")
    how.add_argument("--device", default="cpu")
    how.add_argument("--batch", type=int, default=0, help="images; 0: 4, or 8 with --curve")
    how.add_argument("--formats", default="NCHW,NHWC,auto")
    how.add_argument("--modes", default=",".join(_MODES))
    how.add_argument("--image_size", type=int, default=0, help="0: small, where the network allows")
    how.add_argument("--full_size", action="store_true", help="the models' own image sizes")
    how.add_argument("--plain_weights", action="store_true",
                     help="train from weights for which ReLU zeroes half of the values")
    how.add_argument("--draws", type=int, default=5,
                     help="draws of weights and batches; a quantity fails if it fails in every draw")
    how.add_argument("--seed", type=int, default=1)
    how.add_argument("--threads", type=int, default=0, help="threads of both programs; 0: the programs' defaults")
    how.add_argument("--keep", type=Path, help="keep all files in this folder")
    how.add_argument("--bench_flags", default="", help="more flags for bench, separated by spaces")

    limits = parser.add_argument_group("limits")
    limits.add_argument("--factor", type=float, default=2.0, help="largest accepted ratio of our error to PyTorch's")
    limits.add_argument("--epsilons", type=float, default=4.0,
                        help="accept relative errors up to this many float32 epsilons")
    limits.add_argument("--floor", type=float, default=6e-8,
                        help="accept errors up to this fraction of the norm of all gradients")

    curves = parser.add_argument_group("curves")
    curves.add_argument("--steps", type=int, default=200)
    curves.add_argument("--optimizer", choices=("sgd", "momentum"), help="default: the optimizer of each curve")
    curves.add_argument("--learning_rate", type=float, default=0.0)
    curves.add_argument("--weight_decay", type=float, default=4e-5)
    curves.add_argument("--f64_flags", default="--dtype=f64",
                        help="flags that make the reference backend compute in f64")
    options = parser.parse_args(arguments)
    unknown = set(options.modes.split(",")) - set(_MODES)
    if unknown:
        parser.error(f"--modes={options.modes}: {', '.join(sorted(unknown))!r} is unknown; accepted: {', '.join(_MODES)}")
    return options


def _models(options: argparse.Namespace) -> list[zoo.Model]:
    names = [name for name in options.models.split(",") if name]
    if options.twin:
        return [_user_model(options, names)]
    models = zoo.all_models() if options.all or not names else zoo.find(names)
    if options.num_classes:
        models = [dataclasses.replace(model, num_classes=options.num_classes) for model in models]
    return models


def _user_model(options: argparse.Namespace, names: list[str]) -> zoo.Model:
    if len(names) != 1 or not options.image_size:
        raise ValueError("--twin needs --image_size and one name in --models")
    spec = importlib.util.spec_from_file_location("twin", options.twin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classes = options.num_classes or zoo.IMAGENET_CLASSES
    return zoo.Model(names[0], options.data_name, options.image_size, classes, zoo.Counts(0),
                     module.build)


def _program(options: argparse.Namespace) -> Program:
    return Program(options.bench, options.device, options.threads,
                   extra=tuple(options.bench_flags.split()))


def _check_twins(models: list[zoo.Model]) -> int:
    wrong = [text for model in models for text in check_twins.check(model)]
    print("\n".join(wrong) or f"{len(models)} twins match the published counts")
    return 1 if wrong else 0


def _compare(options: argparse.Namespace, models: list[zoo.Model]) -> int:
    limits = Limits(options.factor, options.epsilons, options.floor)
    flags = (f"--num_classes={options.num_classes}",) if options.num_classes else ()
    plan = Plan(_program(options), limits, tuple(options.formats.split(",")), options.batch or 4,
                options.image_size, options.full_size, options.draws, options.seed,
                tuple(options.modes.split(",")), options.plain_weights, options.weight_decay,
                options.keep, flags)
    print(f"PyTorch {torch.__version__}. Errors: ||a-b||/||b||, b from PyTorch in float64. ratio: "
          f"to the error of PyTorch in float32, at most {limits.factor:g}; ~ if the error is at "
          f"most {limits.epsilons:g} epsilons. floor: gradients above that ratio whose error is at "
          f"most {limits.floor:g} of the norm of all gradients.\n{HEADER}")
    failed: list[str] = []
    compared = 0
    for model in models:
        for row in compare_model(model, plan):
            print(row.text(), flush=True)
            compared += 1
            failed += [] if row.passed else [f"{model.label} {row.mode} {row.data_format}"]
    if compared == 0:
        raise ValueError("nothing was compared: a model with an auxiliary head is compared in training only")
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def _curves(options: argparse.Namespace) -> int:
    if options.models or options.twin or options.all:
        raise SystemExit("--curve always uses lenet and the CIFAR resnet20: omit --models, "
                         "--twin and --all")
    program = _program(options)
    reference = dataclasses.replace(program, device="reference",
                                    extra=(*program.extra, *options.f64_flags.split()))
    passed = True
    for name, optimizer, rate in _CURVES:
        training = curve.Training(options.optimizer or optimizer, options.steps, options.batch or 8,
                                  options.learning_rate or rate, options.weight_decay, options.seed)
        for result in curve.compare_curves(zoo.find([name])[0], training, program, reference,
                                           options.keep):
            passed = passed and result.passed
            print(f"{'ok' if result.passed else 'FAILED'}: {result.text}", flush=True)
    return 0 if passed else 1


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        models = _models(options)
        if options.list:
            print("\n".join(model.label for model in models))
            return 0
        if options.check_twins:
            return _check_twins(models)
        if options.curve:
            return _curves(options)
        return _compare(options, models)
    except (ValueError, RuntimeError) as error:
        print(f"parity_torch: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
