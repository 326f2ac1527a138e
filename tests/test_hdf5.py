"""Trajectories of a sweep in one HDF5 file, read by the HDF5 library, compared with those in separate files."""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DAEDAL, SOURCE = os.environ["DAEDAL"], pathlib.Path(os.environ["SOURCE_DIR"])
MOST = 2100 if os.environ["BUILD_KIND"] == "release" else 100
WORK = pathlib.Path(tempfile.mkdtemp())

GROWTH = """model Growth
  parameter Real a = 1;
  parameter Integer n = 2;
  Real x[n](each start = 1, each fixed = true), 'sum of ä' = sum(x);
equation
  for i in 1:n loop der(x[i]) = -a*i*x[i]; end for;
end Growth;
"""


def has_h5py(python):
    return os.path.exists(python) and subprocess.run([python, "-c", "import h5py"], capture_output=True).returncode == 0


def model(text):
    (WORK / "m.mo").write_text(text, encoding="utf-8")
    return str(WORK / "m.mo")


class Collection(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def sweep(self, *arguments):
        """Rows of the table."""
        shutil.rmtree(self.folder / "single", ignore_errors=True)
        for place in ("runs.h5", "single"):
            done = subprocess.run([DAEDAL, "sweep", *arguments, "--trajectories", place, "--output-file", "table.csv", "--intervals", "10"],
                                  capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / "runs.h5.part").exists())
        with open(self.folder / "table.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def check_group(self, row, name, group, varied, parameters):
        single = self.folder / "single" / f"{name}.csv"
        self.assertEqual([group.attrs[key] for key in varied], [float(row[key]) for key in varied])
        self.assertEqual((group.attrs["status"].decode(), group.attrs["cause"].decode()), (row["status"], row["cause"]))
        self.assertEqual("values" in group, single.exists())
        if not single.exists():
            return
        self.assertEqual([group.attrs[key] for key in parameters], list(parameters.values()))
        with open(single, encoding="utf-8") as file:
            head, *body = csv.reader(file)
        self.assertEqual(list(group["names"].asstr()), head[1:])
        self.assertEqual(group["time"][:].tolist(), [float(line[0]) for line in body])
        places = group["columns"][:].astype(int)
        self.assertEqual(set(abs(places)), set(range(1, group["values"].shape[1] + 1)))
        read = group["values"][:][:, abs(places) - 1] * (places / abs(places)) + 0.0  # no negative zeros
        self.assertEqual(str(read.tolist()), str([[float(cell) + 0.0 for cell in line[1:]] for line in body]))

    def check(self, *arguments, varied, parameters={}):
        """If there are many groups, only some are checked."""
        import h5py
        rows = self.sweep(*arguments)
        digits, every = len(str(len(rows))), max(1, len(rows) // 50)
        with h5py.File(self.folder / "runs.h5") as file:
            self.assertEqual(list(file), [f"point_{k + 1:0{digits}}" for k in range(len(rows))])
            for row, name in list(zip(rows, file))[::every]:
                self.check_group(row, name, file[name], varied, parameters)

    def test_failures(self):
        self.check(str(SOURCE / "examples/pendulum.mo"), "--vary", "L={1,0,2}", "--vary", "y={0,0.1}", "--stop-time", "1", "--outputs", "lambda", varied=("L", "y"),
                   parameters={"g": 9.81})

    def test_structure(self):
        """Points have different signals."""
        self.check(model(GROWTH), "--vary", "n=1:4", "--vary", "a={0.5,1}", varied=("n", "a"))

    def test_many(self):
        """As many groups as a node of the symbol table holds, more, and more nodes than the smallest node of the tree has."""
        text = model("model M parameter Real a = 1; Real x(start = a, fixed = true); equation der(x) = -1; end M;")
        for count in (64, 65, MOST):
            self.check(text, "--vary", f"a=1:{count}", varied=("a",))


if __name__ == "__main__":
    if has_h5py(sys.executable):
        unittest.main()
    elif has_h5py("/usr/bin/python3"):
        sys.exit(subprocess.run(["/usr/bin/python3", *sys.argv]).returncode)
    else:
        print("no h5py: nothing is tested")
