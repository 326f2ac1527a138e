#!/usr/bin/env python3
"""What netlists mean, and what is said of those that mean nothing. No ngspice is needed."""
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

# Netlist behind its title, exit status, words of the message, line and column it points at (None: any).
REFUSED = [
    ("V1 a 0 1\nV2 a 0 2\nR1 a 0 1", 4, "v1 and v2 form a loop of voltage sources", "3:1"),
    ("V1 a b 1\nV2 b c 1\nE1 c a x 0 2\nR1 x 0 1\nR2 a 0 1", 4, "v2, v1 and e1 form a loop", None),
    ("V1 a a 1\nR1 a 0 1", 4, "voltage source v1 is shorted", "2:1"),
    ("V1 a 0 1\nR1 a 0 1\nC1 x y 1n\nR2 x y 1k", 4, "nodes x and y are not connected to ground", "4:1"),
    ("I1 0 a 1\nI2 a b 2\nR2 b 0 1k", 4, "only the current sources i1 and i2 lead to node a", "2:1"),
    ("R1 a 0 {x+}\nV1 a 0 1", 3, "there is no parameter x", "2:9"),
    ("R1 a 0 {1+}\nV1 a 0 1", 3, "a number, a name or `(` is expected", "2:11"),
    ("X1 a 0 foo", 3, "there is no such subcircuit", "2:8"),
    (".subckt s a b\nR1 a b 1\n.ends\nX1 a s\nV1 a 0 1", 3, "subcircuit s has 2 nodes, not 1", "5:6"),
    (".subckt s a\nX1 a s\nR1 a 0 1\n.ends\nX1 a s", 3, "nested too deep", None),
    ("R1 a 0 1\n.subckt s a\n", 3, ".ends of this subcircuit is missing", "3:1"),
    ("E1 b 0 a", 3, "something is missing", None),
    ("B1 c 0 k=3", 3, "v=expression or i=expression", "2:8"),
    ("M1 a b c d MM\n.model MM NMOS(LEVEL=3)\nV1 a 0 1", 3, "models of level 3 are not supported", "3:1"),
    ("D1 a 0 DX ISS=1\nV1 a 0 1\n.model DX D", 3, "`iss` means nothing here", "2:11"),
    ("D1 a 0 DX\nV1 a 0 1\n.model DX NPN(IS=1)", 3, "its model is of type npn", "2:1"),
    ("Q1 a b 0 QX\nV1 a 0 1", 3, "there is no model of this name", None),
    ("F1 a 0 V9 2\nR1 a 0 1", 3, "i(v9) is asked for", "2:1"),
    ("K1 L1 L2 0.5\nR1 a 0 1", 3, "l1 is not an inductor", "2:1"),
    ("T1 a 0 b 0 Z0=50\nR1 a 0 1\nR2 b 0 1", 3, "a line needs Z0= and TD=", "2:1"),
    ("Z1 a 0 1", 3, "elements of this letter are not supported", "2:1"),
    ("R1 a 0 1\n.foo", 3, "the card .foo is not supported", "3:1"),
    (".param a={b} b={a}\nR1 x 0 {a}", 3, "depends on itself", None),
    (".include nowhere.lib\nR1 a 0 1", 3, "nowhere.lib", "2:1"),
    ("V1 a 0 PWL(0 1 2)\nR1 a 0 1", 3, "pairs of time and value", None),
    ("V1 a 0 1\nR1 a 0 1\n.dc V9 0 1 0.1", 3, "v9, which is to be swept", "4:1"),
]


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
        return subprocess.run([DAEDAL, *words], capture_output=True, text=True, timeout=60, check=False, cwd=self.folder.name)

    def simulate(self, path, *options):
        run = self.run_command("simulate", path, "-q", "--output-file", "out.csv", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(self.path("out.csv"), encoding="utf-8") as file:
            rows = csv.reader(file)
            names = next(rows)
            return dict(zip(names, zip(*(map(float, row) for row in rows)))), run.stderr

    def test_refused(self):
        for text, status, words, place in REFUSED:
            path = self.write(f"title\n{text}\n.end\n")
            run = self.run_command("check", path)
            self.assertEqual(run.returncode, status, text + run.stderr)
            self.assertIn(words, run.stderr, text)
            if place:
                self.assertIn(f"n.cir:{place}: error", run.stderr, text)

    def test_no_operating_point(self):
        path = self.write("t\nV1 in 0 1\nR1 in a 1k\nB1 a 0 I=1+v(a)*v(a)\nC1 a 0 1n\n.tran 1u 1m\n.end\n")
        run = self.run_command("simulate", path)
        self.assertEqual(run.returncode, 5)
        self.assertIn("not found around B1", run.stderr)

    def test_forms_of_cards(self):
        text = ("t\n* comment\nV1 IN 0 DC 1 ; comment\nr1 in Out\n+ 1K $ comment\n.PARAM c0 = 2 * 500p\n"
                "C1 out gnd {c0}\n.print tran v(out)\n.control\nrun\n.endc\n.tran 10n 1u uic\n.end\nthis is not read\n")
        signals, words = self.simulate(self.write(text))
        self.assertAlmostEqual(signals["v(out)"][-1], 1 - 2.718281828459045 ** -1, places=5)
        run = self.run_command("check", self.path("n.cir"))
        self.assertIn(".print is skipped", run.stderr)
        self.assertIn("block .control is skipped", run.stderr)

    def test_included_files(self):
        self.write("* values\n.lib slow\n.param r=1k\n.endl\n.lib fast\n.param r=10\n.endl\n", "v.lib")
        self.write("R1 a out {r}\nC1 out 0 1u\n", "rc.inc")
        signals, _ = self.simulate(self.write("t\nV1 a 0 1\n.include rc.inc\n.lib 'v.lib' slow\n.tran 10u 1m uic\n.end\n"))
        self.assertAlmostEqual(signals["v(out)"][-1], 1 - 2.718281828459045 ** -1, places=5)
        self.write("R1 a out {zz}\n", "rc.inc")
        run = self.run_command("check", self.path("n.cir"))
        self.assertIn("rc.inc, line 1: there is no parameter zz", run.stderr)

    def test_overrides(self):
        path = self.write("t\n.param n=2\nV1 a 0 1\nR1 a b 1k\nR2 b 0 {1k*n}\nD1 0 b DM\n.model DM D(IS={n*1e-15})\n.tran 1u 1m\n.end\n")
        for options, wanted in (([], 2 / 3), (["--override", "r1=2000"], 0.5), (["--override", "n=1"], 0.5)):
            signals, _ = self.simulate(path, *options)
            self.assertAlmostEqual(signals["v(b)"][-1], wanted, places=6)

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

    def test_operating_point_alone(self):
        signals, _ = self.simulate(self.write("t\nV1 a 0 5 SIN(1 1 1k)\nR1 a b 1k\nR2 b 0 1k\n.op\n.end\n"))
        self.assertLessEqual(len(signals["time"]), 2)
        self.assertEqual(signals["v(b)"][0], 2.5)

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
        """As many new variables as there are loops and cutsets, as in (46)."""
        for name, count in (("index2_loop", 1), ("index2_cutset", 1), ("index2_floating_loop", 1), ("index1", 0)):
            run = self.run_command("reduce", os.path.join(EXAMPLES, name + ".cir"), "--method", "minimal")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout.count("as a variable of its own"), count, name)


if __name__ == "__main__":
    sys.exit(unittest.main())
