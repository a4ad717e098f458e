#!/usr/bin/env python3
"""Tests that Kubernetes and bench accept mpijob.yaml.

    mpijob_test.py [BENCH]    BENCH also checks the flags

mpijob.schema.json is the MPI Operator's schema of version 0.8.0, without descriptions and defaults.
"""

import copy
import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema
import yaml

FOLDER = pathlib.Path(__file__).parent
BENCH = sys.argv.pop() if len(sys.argv) > 1 else None


def strict(schema):
    """Returns a schema that, like `kubectl apply`, refuses unknown fields."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if isinstance(out.get("properties"), dict) and "additionalProperties" not in out:
        out["additionalProperties"] = False
    return out


class MpiJob(unittest.TestCase):
    def setUp(self):
        self.job = yaml.safe_load((FOLDER / "mpijob.yaml").read_text())
        self.schema = strict(json.loads((FOLDER / "mpijob.schema.json").read_text()))

    def test_follows_the_operators_schema(self):
        jsonschema.validate(self.job, self.schema)

    def test_refuses_misspelt_and_mistyped_fields(self):
        for path, value in ((("slotPerWorker",), 1), (("slotsPerWorker",), "one"),
                            (("mpiReplicaSpecs", "Worker", "replica"), 2)):
            job = copy.deepcopy(self.job)
            place = job["spec"]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            with self.assertRaises(jsonschema.ValidationError, msg=path):
                jsonschema.validate(job, self.schema)

    def test_starts_one_process_per_slot(self):
        spec = self.job["spec"]
        launcher = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
        command = launcher["command"]
        self.assertEqual(int(command[command.index("-np") + 1]),
                         spec["slotsPerWorker"] * spec["mpiReplicaSpecs"]["Worker"]["replicas"])

    @unittest.skipUnless(BENCH, "no program was given")
    def test_gives_flags_that_bench_accepts(self):
        launcher = self.job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
        self.assertEqual(launcher["args"][0], "bench")
        # The number of threads is that of the pod; --dump writes no record.
        flags = [flag for flag in launcher["args"][1:]
                 if not flag.startswith(("--num_intra_threads=", "--result_file="))]
        subprocess.run([BENCH, *flags, "--dump=graph"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main()
