#!/usr/bin/env python3
"""The meaning of netlists: included files, bytes, exports, topology. Single netlists, and those that must be refused, are in cases/netlists. No ngspice is
needed."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

import ngspice

DAEDAL = os.environ["DAEDAL"]
EXAMPLES = os.path.join(os.environ["SOURCE_DIR"], "examples", "circuits")


class Netlists(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, text, name="n.cir"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run_command(self, *words):
        return subprocess.run([DAEDAL, *words], capture_output=True, text=True, check=False, cwd=self.folder.name)

    def simulate(self, path, *options):
        run = self.run_command("simulate", path, "-q", "--output-file", "out.csv", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.path("out.csv"), encoding="utf-8") as file:
            rows = csv.reader(file)
            names = next(rows)
            return dict(zip(names, zip(*(map(float, row) for row in rows)))), run.stderr

    def test_included_files(self):
        self.write("* values\n.lib slow\n.param r=1k\n.endl\n.lib fast\n.param r=10\n.endl\n", "v.lib")
        self.write("R1 a out {r}\nC1 out 0 1u\n", "rc.inc")
        signals, _ = self.simulate(self.write("t\nV1 a 0 1\n.include rc.inc\n.lib 'v.lib' slow\n.tran 10u 1m uic\n.end\n"))
        self.assertAlmostEqual(signals["v(out)"][-1], 1 - 2.718281828459045 ** -1, places=5)
        self.write("R1 a out {zz}\n", "rc.inc")
        run = self.run_command("check", self.path("n.cir"))
        self.assertIn("rc.inc, line 1: there is no parameter zz", run.stderr)

    def test_bytes_that_are_no_utf8_are_latin_1(self):
        for encoding in ("latin-1", "utf-8"):
            with open(self.path("n.cir"), "wb") as file:
                file.write("Verst\u00e4rker\nV1 \u00b5\u00dd 0 1\nR1 \u00b5\u00dd 0 1k\n.tran 1u 1m\n.end\n".encode(encoding))
            signals, _ = self.simulate(self.path("n.cir"))
            self.assertEqual(signals["v(\u00b5\u00dd)"][-1], 1)
            flat = self.run_command("flatten", self.path("n.cir"))
            self.assertIn("Verst\u00e4rker", flat.stdout)

    def test_flat_text_means_the_same(self):
        for name in ("common_emitter", "index2_floating_loop", "cmos_inverter"):
            path = os.path.join(EXAMPLES, name + ".cir")
            wanted, _ = self.simulate(path, "--tolerance", "1e-8")
            flat = self.write(self.run_command("flatten", path).stdout, "flat.mo")
            for source, options in ((flat, []), (path, ["--mna", "charge"])):
                found, _ = self.simulate(source, "--tolerance", "1e-8", *options)
                for signal, values in wanted.items():
                    if signal.startswith("v("):
                        worst = max(abs(a - b) for a, b in zip(values, found[signal]))
                        self.assertLess(worst, 3e-4, (name, signal, options))

    def test_raw_files(self):
        path = os.path.join(EXAMPLES, "rlc.cir")
        wanted, _ = self.simulate(path)
        for name in ("o.raw", "o.ascii.raw"):
            self.assertEqual(self.run_command("simulate", path, "-q", "--output-file", name).returncode, 0)
            found = ngspice.read_raw(self.path(name))
            self.assertEqual(tuple(found["v(out)"]), wanted["v(out)"])
            self.assertEqual(tuple(found["time"]), wanted["time"])

    def test_topology(self):
        run = self.run_command("analyze", os.path.join(EXAMPLES, "index2_both.cir"), "--json")
        topology = json.loads(run.stdout)["topology"]
        self.assertEqual(topology["index"], 2)
        self.assertTrue(topology["agrees"])
        self.assertEqual(topology["loops"][0]["elements"], ["c1", "c2", "v1"])
        self.assertEqual(topology["cutsets"][0], {"elements": ["l3", "l4"], "signs": [-1, 1], "nodes": ["e"]})
        self.assertEqual(topology["q_v_c"], [[1]])
        self.assertEqual(topology["q_crv"], [[int(node == "e")] for node in topology["nodes"]])

    def test_minimal_extension(self):
        """There are as many new variables as loops and cutsets, as in (46)."""
        for name, count in (("index2_loop", 1), ("index2_cutset", 1), ("index2_floating_loop", 1), ("index1", 0)):
            run = self.run_command("reduce", os.path.join(EXAMPLES, name + ".cir"), "--method", "minimal")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout.count("as a separate variable"), count, name)


if __name__ == "__main__":
    sys.exit(unittest.main())
