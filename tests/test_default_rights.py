"""The rights that a command gives up by default. It can write its outputs anywhere, as with --no-sandbox. The kernel's filter of system calls is on, except if the compiler or external
functions are needed. test_sandbox.c tests the refusals."""
import os
import pathlib
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
MODEL = "model M\n  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -k*x;\nend M;\n"
COMMANDS = [
    ["simulate", "-o", "{out}/a.mat", "--plot", "{out}/p.svg", "--json", "{out}/j.json", "--part-interval", "1e-9"],
    ["simulate", "-o", "link.csv"],
    ["simulate"],
    ["simulate", "-o", "-"],
    ["simulate", "-o", "{out}/none/a.csv"],
    ["simulate", "-o", "/dev/stdout"],
    ["sweep", "--vary", "k=1:1:3", "-o", "{out}/s.csv", "--trajectories", "{out}/there", "--threads", "2"],
    ["sweep", "--vary", "k=1:1:3", "-o", "{out}/s.csv", "--trajectories", "{out}/new"],
    ["export", "--c", "{out}/there"],
    ["export", "--c", "{out}/new", "--standalone"],
    ["init", "--write", "{out}/i.txt"],
    ["analyze", "--svg", "{out}/a.svg"],
    ["report", "--html", "{out}/r.html"],
]


class DefaultRights(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "m.mo").write_text(MODEL)

    def run_in(self, name, words):
        """The exit status, and the files that exist afterwards."""
        root = self.path / name
        for folder in ("work", "temporary", "out/there"):
            (root / folder).mkdir(parents=True)
        (root / "work/link.csv").symlink_to(root / "out/target.csv")
        words = [word.format(out=root / "out") for word in words]
        done = subprocess.run([DAEDAL, words[0], self.path / "m.mo", *words[1:], "-q"], cwd=root / "work",
                              env={**os.environ, "TMPDIR": str(root / "temporary")}, capture_output=True, text=True)
        return done.returncode, sorted(str(path.relative_to(root)) for path in root.rglob("*")), done.stderr.replace(str(root), "")

    def test_outputs(self):
        for number, words in enumerate(COMMANDS):
            with self.subTest(" ".join(words)):
                self.assertEqual(self.run_in(f"{number}a", words), self.run_in(f"{number}b", [*words, "--no-sandbox"]))

    def filter_of(self, *words):
        """Returns the kind of filter that a run has while it writes to a full pipe."""
        with subprocess.Popen([DAEDAL, "simulate", self.path / "m.mo", "-q", "-o", "-", "--intervals", "50000", *words], stdout=subprocess.PIPE) as run:
            run.stdout.read(1)
            found = self.filter_in(run.pid)
            run.kill()
        return found

    def filter_in(self, process):
        return next(line.split()[1] for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("Seccomp:"))

    def test_filter(self):
        can = subprocess.run([DAEDAL, "check", self.path / "m.mo", "--sandbox"], capture_output=True).returncode == 0
        if not can or self.filter_in("self") != "0":
            self.skipTest("no landlock, or a filter already")
        self.assertEqual(self.filter_of(), "2")
        self.assertEqual(self.filter_of("--no-sandbox"), "0")
        self.assertEqual(self.filter_of("--allow-external"), "0")

    def test_both(self):
        done = subprocess.run([DAEDAL, "check", self.path / "m.mo", "--sandbox", "--no-sandbox"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--no-sandbox", done.stderr)


if __name__ == "__main__":
    unittest.main()
