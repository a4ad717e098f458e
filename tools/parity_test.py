"""Tests that the comparison with PyTorch accepts right results and rejects wrong ones."""

import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from parity import check_twins, curve, numbers, safetensors, zoo
from parity.compare import Limits, MismatchError, Verdict, compare, worst
from parity.layers import avg_pool, channel_lrn, max_pool, pad_extents
from parity.parity import Plan, compare_model
from parity.program import Program, step_losses

LIMITS = Limits(factor=2, epsilons=4, floor=6e-8)


class Safetensors(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "x.safetensors"

    def tearDown(self):
        self.folder.cleanup()

    def test_gives_back_what_was_saved(self):
        tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([3, 4]),
                   "scalar": np.array(0.5), "none": np.zeros((0, 2), np.float32)}
        safetensors.save(self.path, tensors)
        loaded = safetensors.load(self.path)
        self.assertEqual(set(loaded), set(tensors))
        for name, value in tensors.items():
            np.testing.assert_array_equal(loaded[name], value)
            self.assertEqual(loaded[name].dtype, value.dtype)

    def test_refuses_a_truncated_file(self):
        safetensors.save(self.path, {"a": np.ones(4, np.float32)})
        whole = self.path.read_bytes()
        for bad in (whole[:-1], whole[:4], b"\xff" * 16):
            self.path.write_bytes(bad)
            with self.assertRaises(safetensors.FormatError):
                safetensors.load(self.path)

    def test_refuses_a_name_that_occurs_twice(self):
        entry = b'"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}'
        header = b"{" + entry + b"," + entry + b"}"
        self.path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
        with self.assertRaises(safetensors.FormatError):
            safetensors.load(self.path)


class Layers(unittest.TestCase):
    def test_same_puts_the_odd_pixel_at_the_end(self):
        self.assertEqual(pad_extents(224, 7, 2, "same"), (2, 3))
        self.assertEqual(pad_extents(224, 7, 2, "same_resnet"), (3, 3))
        self.assertEqual(pad_extents(32, 3, 2, "same"), (0, 1))
        self.assertEqual(pad_extents(56, 1, 2, "same"), (0, 0))
        self.assertEqual(pad_extents(7, 3, 1, "same_resnet"), (1, 1))

    def test_average_ignores_padding(self):
        for size, stride in ((4, 1), (4, 2), (5, 2)):
            self.assertTrue(torch.allclose(avg_pool(torch.full((1, 2, size, size), 3.0), 3, stride,
                                                    "same"), torch.tensor(3.0)))

    def test_padding_never_is_the_largest(self):
        for stride in (1, 2):
            self.assertTrue(torch.all(max_pool(torch.full((1, 1, 4, 4), -2.0), 3, stride,
                                               "same") == -2))

    def test_lrn_is_pytorchs_with_alpha_times_the_window(self):
        x = torch.randn(2, 12, 3, 3, generator=torch.Generator().manual_seed(1))
        theirs = F.local_response_norm(x, 9, alpha=9 * 0.1, beta=0.75, k=1.0)
        self.assertTrue(torch.allclose(channel_lrn(x, 4, 1.0, 0.1, 0.75), theirs))


class Comparison(unittest.TestCase):
    def verdict(self, ours: float, torch_error: float, norm: float = 1.0) -> Verdict:
        exact = {"grad/a": np.array([norm]), "grad/b": np.array([1.0])}
        found = compare({"grad/a": np.array([norm + ours]), "grad/b": np.array([1.0])},
                        [{"grad/a": np.array([norm + torch_error]), "grad/b": np.array([1.0])}],
                        exact, LIMITS)
        return found["grad/a"].verdict

    def test_twice_pytorchs_error_is_allowed_and_more_is_not(self):
        self.assertIs(self.verdict(1.9e-5, 1e-5), Verdict.OK)
        self.assertIs(self.verdict(2.1e-5, 1e-5), Verdict.FAILED)

    def test_a_few_epsilons_are_allowed_whatever_pytorchs_error(self):
        self.assertIs(self.verdict(4e-7, 0), Verdict.WITHIN_EPSILONS)
        self.assertIs(self.verdict(6e-7, 0), Verdict.FAILED)

    def test_an_error_below_a_tiny_share_of_all_gradients_is_allowed(self):
        self.assertIs(self.verdict(5e-8, 0, norm=1e-3), Verdict.UNDER_FLOOR)
        self.assertIs(self.verdict(7e-8, 0, norm=1e-3), Verdict.FAILED)

    def test_nan_fails(self):
        self.assertIs(self.verdict(float("nan"), 1.0), Verdict.FAILED)

    def test_the_worst_is_a_failed_one(self):
        found = compare({"x": np.array([1.5]), "y": np.array([1.1])},
                        [{"x": np.array([1.4]), "y": np.array([1.0])}],
                        {"x": np.array([1.0]), "y": np.array([1.0])}, LIMITS)
        self.assertEqual(worst(found.values()).name, "y")

    def test_names_and_shapes_must_agree(self):
        a = {"x": np.zeros((2, 3))}
        for b in ({}, {"x": np.zeros((3, 2))}, {"x": np.zeros((2, 3)), "y": np.zeros(1)}):
            with self.assertRaises(MismatchError):
                compare(b, [a], a, LIMITS)


class FakeProgram(Program):
    """Computes with PyTorch in float32 in place of `bench`, then changes its tensors with `spoil`."""

    def spoil(self, tensors: numbers.Arrays) -> None:
        del tensors

    def dump(self, model, task, flags, folder, name):
        assert (folder / "weights.safetensors").exists() and "--data_format=NCHW" in flags
        weights = safetensors.load(folder / "weights.safetensors")
        task = numbers.Task(weights, task.images, task.labels, task.batch, task.training,
                            task.weight_decay)
        tensors = numbers.run_twin(model.make(model.num_classes, task.images.shape[2]), task,
                                   numbers.SINGLE[0])
        self.spoil(tensors)
        return tensors


class SpoiledProgram(FakeProgram):
    def spoil(self, tensors):
        if "grad/conv1.bias" in tensors:
            tensors["grad/conv1.bias"] *= 1 + 1e-3


class Parity(unittest.TestCase):
    def rows(self, program: Program) -> list:
        plan = Plan(program, LIMITS, ("NCHW",), batch=4, image_size=0, full_size=False, draws=2,
                    seed=1, modes=("train", "forward"), plain_weights=False, weight_decay=4e-5,
                    keep=None)
        return list(compare_model(zoo.find(["lenet"])[0], plan))

    def test_passes_results_as_exact_as_pytorchs(self):
        for row in self.rows(FakeProgram(Path("none"))):
            self.assertTrue(row.passed, row.text())

    def test_fails_for_a_gradient_that_is_off_by_a_thousandth(self):
        train, forward = self.rows(SpoiledProgram(Path("none")))
        self.assertFalse(train.passed, train.text())
        self.assertEqual(train.draws, 2)
        self.assertIn("conv1.bias", train.text())
        self.assertTrue(forward.passed, forward.text())

    def test_fails_with_the_reason_when_the_program_cannot_run(self):
        for row in self.rows(Program(Path("/nonexistent/bench"))):
            self.assertFalse(row.passed)
            self.assertIn("No such file", row.text())


class Twins(unittest.TestCase):
    def test_small_ones_have_the_published_counts(self):
        for model in zoo.find(["lenet", "resnet20", "resnet20_v2"]):
            self.assertEqual(check_twins.check(model), [])

    def test_names_of_models_are_unique(self):
        labels = [model.label for model in zoo.all_models()]
        self.assertEqual(len(set(labels)), len(labels))

    def test_an_unknown_name_is_refused(self):
        with self.assertRaises(ValueError):
            zoo.find(["resnet51"])


class Curves(unittest.TestCase):
    def test_momentum_is_nesterovs_with_decay_for_all_but_batch_norm(self):
        twin = torch.nn.Sequential(torch.nn.Linear(2, 1, bias=False).double())
        w = twin[0].weight
        w.data = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
        training = curve.Training("momentum", 2, 1, 0.1, 0.5, 1)
        update = curve._Update(twin, training)
        expected, a = np.array([1.0, 2.0]), np.zeros(2)
        for gradient in (np.array([1.0, -1.0]), np.array([0.5, 2.0])):
            w.grad = torch.tensor([gradient.tolist()], dtype=torch.float64)
            update()
            g = gradient + 0.5 * expected
            a = 0.9 * a + g
            expected = expected - 0.1 * g - 0.1 * 0.9 * a
            np.testing.assert_allclose(w.detach().numpy()[0], expected, rtol=1e-12)

    def test_differences_are_relative(self):
        exact = np.full(40, 2.0)
        ours = exact.copy()
        ours[5] = 2.2
        self.assertAlmostEqual(curve.largest_difference(ours, exact), 0.1)
        self.assertAlmostEqual(curve.largest_mean_difference(ours, exact), 0.005)

    def test_losses_come_from_the_record(self):
        self.assertEqual(step_losses({"series": {"loss": [2.0, 1.0]}}), [2.0, 1.0])


if __name__ == "__main__":
    torch.set_num_threads(2)
    unittest.main(argv=sys.argv)
