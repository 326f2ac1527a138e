"""Long runs: rows are in FILE.part while the run goes on; after a kill it is readable, and --resume makes the whole file of it."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
MODEL = (SOURCE / "examples/pendulum.mo").read_text()


def rows(path):
    """Rows of a CSV file; the last line may be cut off in a part."""
    text = path.read_text()
    lines = text[: text.rindex("\n")].split("\n")
    return lines[0].split(","), [[float(cell) for cell in line.split(",")] for line in lines[1:]]


class Resume(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = pathlib.Path(holder.name)

    def command(self, *words):
        return [DAEDAL, "simulate", "m.mo", "-q", "--output-file", "r.csv", *words]

    def run_command(self, *words):
        return subprocess.run(self.command(*words), cwd=self.path, capture_output=True, text=True, timeout=200)

    def start_and_end(self, number, *words):
        """Starts a run, and ends it by a signal when there is a part."""
        process = subprocess.Popen(self.command(*words), cwd=self.path, stderr=subprocess.PIPE, text=True)
        part = self.path / "r.csv.part"
        end = time.time() + 100
        while not (part.exists() and part.stat().st_size > 2000) and process.poll() is None and time.time() < end:
            time.sleep(0.02)
        process.send_signal(number)
        said = process.communicate(timeout=100)[1]
        self.assertTrue(part.exists(), said)
        return said

    def write(self, stop):
        (self.path / "m.mo").write_text(MODEL.replace("StopTime = 10", f"StopTime = {stop}, Interval = 0.5"))

    def test_kill(self):
        self.write(20000)
        self.start_and_end(signal.SIGKILL, "--tolerance", "1e-11")
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["m.mo", "r.csv.part"])
        names, before = rows(self.path / "r.csv.part")
        last = before[-1][0]
        stop = last + 50
        done = self.run_command("--tolerance", "1e-11", "--resume", "--stop-time", str(stop))
        self.assertEqual(done.returncode, 0, done.stderr)
        after_names, after = rows(self.path / "r.csv")
        self.assertEqual(names, after_names)
        self.assertEqual([row[0] for row in after], [0.5 * k for k in range(len(after))])
        self.assertEqual(after[-1][0], stop)
        self.assertEqual(after[: len(before) - 1], before[:-1])
        self.assertEqual(after[len(before) - 1][0], last)
        for value, again in zip(before[-1], after[len(before) - 1]):
            self.assertAlmostEqual(value, again, delta=1e-9 * max(1, abs(value)))
        self.assertFalse((self.path / "r.csv.part").exists())
        # A pendulum that is let go at y = 0 with x = 1 keeps its energy: so does what was put together.
        x, y, vx, vy = (names.index(name) for name in ("x", "y", "vx", "vy"))
        for row in after[:: max(1, len(after) // 200)]:
            self.assertAlmostEqual((row[vx] ** 2 + row[vy] ** 2) / 2 + 9.81 * row[y], 0, delta=1e-4)
            self.assertAlmostEqual(row[x] ** 2 + row[y] ** 2, 1, delta=1e-9)

    def test_interrupt(self):
        self.write(20000)
        said = self.start_and_end(signal.SIGTERM, "--tolerance", "1e-11")
        self.assertIn("--resume goes on from r.csv.part", said)
        self.assertTrue((self.path / "r.csv").exists())

    def test_cut_line(self):
        self.write(10)
        (self.path / "r.csv.part").write_text("time,x,y,vx,vy\n0,1,0,0,0\n0.5,0.4,-0.9165151389911680")
        done = self.run_command("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(rows(self.path / "r.csv")[1]), 21)

    def test_refusals(self):
        self.write(10)
        self.assertEqual(self.run_command("--resume").returncode, 7)
        subprocess.run(self.command(), cwd=self.path, check=True)
        self.assertFalse((self.path / "r.csv.part").exists())
        (self.path / "r.csv.part").write_text("time,x\n0,1\n0.5,1\n")
        (self.path / "m.mo").write_text("model M\n  Real x(start = 1);\ninitial equation\n  x = 1;\nequation\n  der(x) = -x;\nend M;\n")
        done = self.run_command("--resume")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be resumed", done.stderr)


if __name__ == "__main__":
    unittest.main()
