"""Tests that each rule of check_layers.py accepts a good file and rejects a bad one."""

import pathlib
import tempfile
import unittest

import check_layers

GROUND = {
    "models/base/shape.h": "#pragma once\n",
    "models/ir/graph.h": '#pragma once\n#include "models/base/shape.h"\n',
    "models/ops/conv2d.h": '#pragma once\n#include "models/ir/graph.h"\n',
    "models/passes/fuse.h": '#pragma once\n#include "models/ops/conv2d.h"\n',
    "models/zoo/zoo.h": '#pragma once\n#include "models/ops/conv2d.h"\n',
    "kernels/backend.h": '#pragma once\n#include "models/ir/graph.h"\n',
    "kernels/runtime/plan.h": '#pragma once\n#include "kernels/backend.h"\n',
    "kernels/cpu/lrn.h": "#pragma once\n",
    "kernels/onednn/onednn_backend.h": '#pragma once\n#include "kernels/backend.h"\n',
    "kernels/onednn/layouts.h": "#pragma once\n",
    "kernels/reference/reference_backend.h": '#pragma once\n#include "kernels/backend.h"\n',
    "kernels/reference/storage.h": "#pragma once\n",
    "bench/verify/verdict.h": '#pragma once\n#include "kernels/reference/storage.h"\n',
    "bench/plan/settings.h": "#pragma once\n",
    "bench/quantize/quantization.h": "#pragma once\n",
    "pipeline/stage.h": '#pragma once\n#include "models/base/shape.h"\n',
    "results/record/record.h": "#pragma once\n",
    "bench/flags/flags.h": "#pragma once\n",
    "bench/loop/session.h": '#pragma once\n',
    "bench/run.h": '#pragma once\n#include "kernels/backend.h"\n#include "results/record/record.h"\n',
}


class LayerTest(unittest.TestCase):
    def found(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {**GROUND, **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return [str(violation) for violation in check_layers.violations(root)]

    def assert_good(self, path: str, text: str, **others: str) -> None:
        self.assertEqual(self.found({path: text, **others}), [])

    def assert_bad(self, path: str, text: str, expected: str) -> None:
        found = self.found({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(path + ":"), found)
        self.assertIn(expected, found[0])

    def test_accepts_includes_of_lower_layers(self):
        self.assertEqual(self.found({}), [])

    def test_refuses_includes_of_higher_layers(self):
        for path, header in (
            ("models/base/bad.cc", "models/ir/graph.h"),
            ("models/ir/bad.cc", "models/ops/conv2d.h"),
            ("models/ops/bad.cc", "models/passes/fuse.h"),
            ("models/passes/bad.cc", "models/zoo/zoo.h"),
            ("models/zoo/bad.cc", "models/passes/fuse.h"),
            ("models/zoo/bad.cc", "kernels/backend.h"),
            ("kernels/bad.cc", "models/zoo/zoo.h"),
            ("kernels/bad.cc", "kernels/onednn/onednn_backend.h"),
            ("kernels/runtime/bad.cc", "kernels/reference/reference_backend.h"),
            ("kernels/cpu/bad.cc", "kernels/backend.h"),
            ("kernels/cases/bad.cc", "kernels/backend.h"),
            ("bench/verify/bad.cc", "bench/plan/settings.h"),
            ("kernels/onednn/bad.cc", "kernels/reference/reference_backend.h"),
            ("kernels/cuda/bad.cc", "kernels/cpu/lrn.h"),
            ("kernels/bad.cc", "bench/run.h"),
            ("variable_mgmt/bad.cc", "pipeline/stage.h"),
            ("variable_mgmt/collectives/bad.cc", "models/ops/conv2d.h"),
            ("variable_mgmt/collectives/bad.cc", "kernels/runtime/plan.h"),
            ("pipeline/bad.cc", "models/ir/graph.h"),
            ("pipeline/bad.cc", "models/ops/conv2d.h"),
            ("pipeline/test/bad_test.cc", "kernels/backend.h"),
            ("results/bad.cc", "models/ir/graph.h"),
            ("results/bad.cc", "kernels/backend.h"),
            ("tools/maker/bad.cc", "bench/run.h"),
            ("bench/flags/bad.cc", "kernels/backend.h"),
            ("results/environment/bad.cc", "models/ir/graph.h"),
            ("bench/terminal/bad.cc", "models/ir/graph.h"),
            ("bench/plan/bad.cc", "bench/quantize/quantization.h"),
            ("bench/plan/bad.cc", "bench/loop/session.h"),
            ("bench/loop/bad.cc", "bench/run.h"),
            ("bench/loop/bad.cc", "bench/flags/flags.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_bad(path, f'#include "{header}"\n', f'includes "{header}"')

    def test_accepts_only_the_public_header_of_a_device(self):
        for path in ("bench/a.cc", "variable_mgmt/a.cc", "kernels/test/a_test.cc"):
            with self.subTest(path=path):
                self.assert_good(path, '#include "kernels/onednn/onednn_backend.h"\n')
                self.assert_bad(path, '#include "kernels/onednn/layouts.h"\n', "onednn_backend.h")
        self.assert_good("kernels/onednn/a.cc", '#include "kernels/onednn/layouts.h"\n#include "kernels/cpu/lrn.h"\n')
        self.assert_good("kernels/runtime/a.cc", '#include "kernels/backend.h"\n')

    def test_refuses_test_helpers_outside_tests(self):
        helper = {"kernels/test/helper.h": "#pragma once\n"}
        include = '#include "kernels/test/helper.h"\n'
        self.assert_good("kernels/test/a_test.cc", include, **helper)
        self.assertEqual(self.found({"variable_mgmt/a.cc": include, **helper}),
                         ['variable_mgmt/a.cc:1: includes "kernels/test/helper.h", which only tests may include'])

    def test_puts_a_sources_own_header_first(self):
        own = '#include "models/base/shape.h"\n'
        self.assert_good("models/base/shape.cc", "// What it is.\n" + own + "#include <array>\n")
        self.assertEqual(self.found({"models/base/shape.cc": "#include <array>\n" + own}),
                         ['models/base/shape.cc:1: must include "models/base/shape.h" first'])
        self.assertEqual(self.found({"models/base/shape.cc": "\n"}),
                         ['models/base/shape.cc:1: must include "models/base/shape.h" first'])

    def test_confines_libraries_to_their_folders(self):
        for header, room in (
            ("oneapi/dnnl/dnnl.hpp", "kernels/onednn/a.cc"),
            ("dnnl.h", "kernels/onednn/a.cc"),
            ("cuda_runtime.h", "kernels/cuda/a.cc"),
            ("cudnn.h", "kernels/cuda/a.cc"),
            ("nccl.h", "kernels/cuda/a.cc"),
            ("gflags/gflags.h", "bench/flags/table.cc"),
            ("hwloc.h", "kernels/cpu/a.cc"),
            ("boost/math/distributions.hpp", "results/stats/a.cc"),
        ):
            with self.subTest(header=header):
                self.assert_good(room, f"#include <{header}>\n")
                self.assert_bad("kernels/runtime/a.cc", f"#include <{header}>\n", "sees")
                self.assert_bad("variable_mgmt/a.cc", f"#include <{header}>\n", "sees")
                if "/" in header:
                    self.assert_bad("models/ir/a.cc", f'#include "{header}"\n', "sees")
        self.assert_bad("kernels/onednn/a.cc", "#include <mpi.h>\n", "sees MPI")

    def test_follows_libraries_through_headers(self):
        found = self.found({
            "kernels/onednn/engine.h": "#pragma once\n#include <oneapi/dnnl/dnnl.hpp>\n",
            "kernels/onednn/onednn_backend.h": '#pragma once\n#include "kernels/onednn/engine.h"\n',
            "variable_mgmt/towers/tower.cc": '\n#include "kernels/onednn/onednn_backend.h"\n',
        })
        self.assertEqual(len(found), 1, found)
        self.assertIn("variable_mgmt/towers/tower.cc:2: sees oneDNN through kernels/onednn/onednn_backend.h", found[0])

    def test_requires_includes_from_the_root(self):
        self.assert_bad("models/ir/bad.cc", '#include "graph.h"\n', "relative to the root of the repository")
        self.assert_bad("models/ir/bad.cc", '#include "../base/shape.h"\n', "root of the repository")
        self.assert_bad("models/ir/bad.cc", "#include <models/ir/graph.h>\n", "with quotes")
        self.assert_good("models/ir/good.cc", '#include <vector>\n#include "hwy/highway.h"\n')

    def test_accepts_generated_headers(self):
        self.assert_good("bench/a.cc", '#include "bench/version.h"\n', 
                         **{"bench/CMakeLists.txt": "configure_file(version.h.in version.h)"})
        self.assert_good("pipeline/a.cc", '#include "pipeline/example.pb.h"\n',
                         **{"pipeline/example.proto": ""})
        self.assert_good("pipeline/a.cc", '#include "example.pb.h"\n', **{"pipeline/example.proto": ""})
        self.assert_bad("bench/a.cc", '#include "bench/version.h"\n', "is not a file")
        self.assert_bad("bench/a.cc", '#include "example.pb.h"\n', "is not a file")

    def test_requires_pragma_once(self):
        self.assert_bad("models/ir/bad.h", "int f();\n", "#pragma once")
        self.assert_good("kernels/cpu/vector-inl.h", "int f();\n")

    def test_limits_lengths(self):
        self.assert_good("models/ir/a.cc", "\n" * check_layers.MAX_LINES)
        self.assert_bad("models/ir/a.cc", "\n" * (check_layers.MAX_LINES + 1), "at most")
        for path, start in (("models/zoo/a.inc", "// Made by tools/a.\n"),
                            ("results/a.json", '{\n"$comment": "Made by bench_results a",\n')):
            self.assert_good(path, start + "\n" * check_layers.MAX_LINES)

    def test_refuses_paths_of_one_machine(self):
        for path in ("home/me/data", "work/data", "root/.cache"):
            self.assert_bad("bench/a.cc", f'const char* p = "/{path}";\n', "machine path")
        self.assert_bad("README.md", "data is in .." + "/shared/data\n", "outside of the repository")
        self.assert_good("bench/a.cc", '// "/proc/stat" and build/tmp/x\n')

    def test_refuses_hosts_of_registries(self):
        for name, domain in (("deb.debian", "org"), ("pypi", "org"), ("archive.ubuntu", "com")):
            self.assert_bad("tools/setup/a.sh", f"fetch {name}.{domain}\n", "registry")
        self.assert_good("README.md", "Debian 12, debian.sources and the Debian archive\n")


if __name__ == "__main__":
    unittest.main()
