"""The driver of cases: errors in a case are reported with file and line, and correct cases pass."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
MODEL = """model M
  Real x(start = 1, fixed = true), y[2];
equation
  der(x) = -x;
  y = {2*x, time};
end M;
"""
RIGHT = """// let: twice(a) = 2*a
// run: simulate --tolerance {1e-6,1e-8} --solver {erk,radau}
// reference: simulate --tolerance 1e-10
// expect: x = exp(-time) within 100*option.tolerance everywhere
// expect: y[1] = twice(x) within 1e-12 where time > 0.5
// expect: x = reference.x within 1e-4
// expect: y[2] = 0.5 within 1e-12 at 0.5
// expect: [x, der(x)] = [1, -1] at start
// expect: largest(x) = first(x)
// expect: report.status = "ok"
// expect: never says no such words
// run: flatten | simulate
// change: der(x) = -x -> der(x) = -2*x | der(x) = -(x + x)
// expect: x = exp(-2) within 1e-5
// run: check
// change: -x -> -z
// expect: exit 3
// expect: 22:13: `z` is not declared
"""
WRONG = ["expect: x = exp(-time) within 1e-15 everywhere", "expect: x = 1", "expect: x > 1", "expect: x < 1 where time > 2", "expect: z = 1", "expect: x = 0.3 at start",
         "expect: exit 3", "expect: says no such words", "expect: never prints /^$/", "expect: never says /integrated/", "expect: prints /[a-z]/", "expect: line x",
         "expect: 1:1: words", "expect: x = reference.x", "expect: x +", "expect: report.nothing = 1", "expect: frexp(x) = 1", "change: absent -> present"]


class Driver(unittest.TestCase):
    def run_case(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "case.mo"
            path.write_text(text)
            done = subprocess.run([sys.executable, SOURCE / "tests" / "run_cases.py", "--perturb", path], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_right(self):
        self.assertEqual(self.run_case(RIGHT + MODEL), (0, f"{4 * 9 + 2 * 2 + 4} expectations were checked\n1 passed, 0 failed\n"))

    def test_wrong(self):
        for line in WRONG:
            with self.subTest(line):
                status, said = self.run_case(f"// expect: exit 0\n// {line}\n// expect: x > 0\n{MODEL}".replace("// expect: exit 0\n" if "exit" in line else "\0", "\n"))
                self.assertEqual(status, 1, said)
                self.assertIn("2: ", said.partition("case.mo:")[2][:4], said)
                self.assertTrue(said.endswith("0 passed, 1 failed\n"), said)

    def test_without_expectations(self):
        status, said = self.run_case(MODEL)
        self.assertEqual(status, 1)
        self.assertIn("has no expectations", said)


if __name__ == "__main__":
    unittest.main()
