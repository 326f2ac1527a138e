"""Signals and full disks, for every command and every kind of file: SIGINT gives 130 and SIGTERM 143 in every phase, the rows so far are kept, and --resume continues. A full disk is reported, with status 7, and leaves no half-written file."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from runs import IS_LONG

DAEDAL = os.environ["DAEDAL"]
SANITIZED = os.environ["BUILD_KIND"] != "release"
ENDING = (signal.SIGINT, signal.SIGTERM)

BIG = """model Big "takes seconds to read"
  Real x[400000](each start = 1, each fixed = true);
equation
  for i in 2:400000 loop der(x[i]) = x[i - 1] - x[i]*sin(x[i]); end for;
  der(x[1]) = -x[1];
end Big;
"""
OSCILLATOR = """model Osc
  parameter Real w = 30, k = 1;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), z(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -w^2*x;
  der(z) = k*sin(x) - z;
end Osc;
"""

# Commands that run for a long time, and the files that must exist when they are ended. A run over 1e7 seconds of an oscillator
# takes hours.
ENDLESS = ["--stop-time", "1e7"]
COMMANDS = {
    "simulate": (["simulate", "osc.mo", *ENDLESS, "--output-file", "o.csv"], "o.csv"),
    "to standard output": (["simulate", "osc.mo", *ENDLESS, "--output-file", "-"], None),
    "to MAT": (["simulate", "osc.mo", *ENDLESS, "--output-file", "o.mat"], "o.mat"),
    "gradient": (["simulate", "osc.mo", *ENDLESS, "--gradient", "x", "--output-file", "o.csv"], "o.csv"),
    "sensitivity": (["simulate", "osc.mo", *ENDLESS, "--sensitivity", "k", "--output-file", "o.csv"], "o.csv"),
    "compiled": (["simulate", "osc.mo", *ENDLESS, "--compile", "--output-file", "o.csv"], None),
    "sweep": (["sweep", "osc.mo", "--vary", "k=1:1:9", *ENDLESS, "--output-file", "s.csv"], "s.csv.part"),
    "fit": (["fit", "osc.mo", "--data", "data.csv", "--parameters", "k=2", "--tolerance", "1e-12"], None),
    "compare": (["compare", "osc.mo", *ENDLESS], None),
    "report": (["report", "osc.mo", *ENDLESS, "--html", "o.html"], "o.html"),
    "report with a comparison": (["report", "osc.mo", "--stop-time", "3000", "--intervals", "10", "--html", "o.html", "--compare"], None),
    "linearize": (["linearize", "osc.mo", "--at", "1e7"], None),
    "check": (["check", "big.mo"], None),
    "flatten": (["flatten", "big.mo"], None),
    "analyze": (["analyze", "big.mo"], None),
    "init": (["init", "big.mo"], None),
    "reduce": (["reduce", "big.mo"], None),
    "steady": (["steady", "big.mo", "--by", "integration"], None),
    "export": (["export", "big.mo", "--c", "c"], None),
    "export of an FMU": (["export", "big.mo", "--fmu", "o.fmu"], None),
}

# Phases of a run in which the signal may come, as models named M with a parameter k and a state x; all run for a long time.
PHASES = {
    "steps": "Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = -900*k*x;",
    "a storm of time events": "Real x(start = 1, fixed = true); Integer n(start = 0, fixed = true); equation der(x) = -k*x; when sin(1e9*time) > 0 then n = pre(n) + 1; end when;",
    "a storm of state events": "Real x(start = 1, fixed = true), v(start = 0, fixed = true); Integer n(start = 0, fixed = true); "
                               "equation der(x) = 1e8*k*v; der(v) = -1e8*k*x; when x > 0 then n = pre(n) + 1; end when;",
    "bounces that pile up": "Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = -9.81*k; when x < 0 then reinit(v, -0.9999999*pre(v)); end when;",
    "samples": "Real x(start = 1, fixed = true); Integer n(start = 0, fixed = true); equation der(x) = -k*x; when sample(0, 1) then n = pre(n) + 1; end when;",
    "an end that is sought": "Real x(start = 1, fixed = true), v(start = 0); equation der(x) = v; der(v) = -900*k*x; final equation x = 1;",
    "a control that is sought": "Real x(start = 0, fixed = true), v(start = 0, fixed = true), u; equation der(x) = v; der(v) = -900*k*x + u; minimize integral(u^2); final equation x = 1; v = 0;",
}
SOUGHT = ("an end that is sought", "a control that is sought")
# The files that the commands leave; a search leaves nothing until it succeeds.
DOINGS = {
    "simulate": (["simulate", "m.mo", *ENDLESS, "--output-file", "o.csv"], "o.csv"),
    "simulate --gradient": (["simulate", "m.mo", *ENDLESS, "--gradient", "x", "--output-file", "o.csv"], "o.csv"),
    "simulate --sensitivity": (["simulate", "m.mo", *ENDLESS, "--sensitivity", "k", "--output-file", "o.csv"], "o.csv"),
    "simulate --verify": (["simulate", "m.mo", *ENDLESS, "--verify", "--output-file", "o.csv"], "o.csv"),
    "sweep": (["sweep", "m.mo", "--vary", "k=1:1:9", *ENDLESS, "--output-file", "s.csv"], "s.csv.part"),
    "fit": (["fit", "m.mo", "--data", "data.csv", "--parameters", "k=2", "--tolerance", "1e-10"], None),
    "compare": (["compare", "m.mo", *ENDLESS], None),
    "report": (["report", "m.mo", *ENDLESS, "--html", "o.html"], "o.html"),
    "linearize": (["linearize", "m.mo", "--at", "1e7"], None),
}
MEMBERS = [(phase, doing, number) for phase in PHASES for doing in DOINGS for number in ENDING
           if phase not in SOUGHT or doing in ("simulate", "simulate --verify")]

# A write to a file fails when DISK_LEFT bytes are written.
FULL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
ssize_t write(int file, const void *bytes, size_t length) {
  static ssize_t (*real)(int, const void *, size_t);
  static long left = -1;
  struct stat info;
  if (!real) real = dlsym(RTLD_NEXT, "write"), left = atol(getenv("DISK_LEFT"));
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return real(file, bytes, length);
  if (!left) return errno = ENOSPC, -1;
  if ((long)length > left) length = (size_t)left;
  left -= (long)length;
  return real(file, bytes, length);
}
"""
WRITERS = {
    "CSV": ["simulate", "osc.mo", "--output-file", "o.csv"],
    "MAT": ["simulate", "osc.mo", "--output-file", "o.mat"],
    "raw": ["simulate", "osc.mo", "--output-file", "o.raw"],
    "SVG": ["simulate", "osc.mo", "--output-file", "-", "--plot", "o.svg"],
    "JSON": ["simulate", "osc.mo", "--output-file", "-", "--json", "o.json"],
    "HTML": ["report", "osc.mo", "--html", "o.html"],
    "incidence": ["analyze", "osc.mo", "--svg", "i.svg"],
    "start values": ["init", "osc.mo", "--write", "o.txt"],
    "matrices": ["linearize", "osc.mo", "--output-file", "l.mat"],
    "C": ["export", "osc.mo", "--c", "c"],
    "a solver": ["export", "osc.mo", "--c", "c", "--standalone"],
    "an FMU": ["export", "osc.mo", "--fmu", "o.fmu"],
    "journal": ["sweep", "osc.mo", "--vary", "k=1:1:3"],
    "HDF5": ["sweep", "osc.mo", "--vary", "k=1:1:3", "--trajectories", "o.h5"],
    "trajectories": ["sweep", "osc.mo", "--vary", "k=1:1:3", "--trajectories", "t"],
    "npy": ["sweep", "osc.mo", "--vary", "k=1:1:3", "--output-file", "o.npy"],
}
KEPT = (".part", "o.h5.part", "t", "o.npy.part", "Osc_sweep.csv.part")  # for --resume


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        (self.at / "osc.mo").write_text(OSCILLATOR)
        (self.at / "big.mo").write_text(BIG)
        (self.at / "data.csv").write_text("time,x\n" + "".join(f"{10 * k},0.5\n" for k in range(3000)))

    def left(self):
        return sorted(p.name for p in self.at.iterdir() if p.name not in ("osc.mo", "big.mo", "m.mo", "data.csv", "full.c", "full.so"))

    def begin(self, words):
        return subprocess.Popen([DAEDAL, *words, "-q"] if words[0] != "steady" else [DAEDAL, *words], cwd=self.at, stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in ENDING])

    def end(self, process, number):
        """Ends the process by the signal once it has begun to work, that is, once it catches this signal."""
        for _ in range(3000):
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = int([line for line in status.splitlines() if line.startswith("SigCgt")][0].split()[1], 16)
            if caught >> (number - 1) & 1:
                break
            time.sleep(0.01)
        time.sleep(0.15)
        process.send_signal(number)
        errors = process.communicate()[1]
        return process.returncode, errors


class Signals(Case):
    def test_every_command(self):
        for k, (name, (words, kept)) in enumerate(COMMANDS.items()):
            for number in ENDING if name in ("simulate", "gradient", "sweep") else ENDING[k % 2 : k % 2 + 1]:
                with self.subTest(name=name, signal=number):
                    self.setUp()
                    status, errors = self.end(self.begin(words), number)
                    self.assertEqual(status, 128 + number, errors)
                    if kept:
                        self.assertIn(kept, self.left())
                    self.assertFalse([p for p in self.left() if p.startswith(".")], "half a file")

    def test_every_phase(self):
        """An alarm ends a run that does not react to the signal in time, without its rows. So the kept rows show that it reacted."""
        for phase, doing, number in MEMBERS if IS_LONG else MEMBERS[::17]:
            words, kept = DOINGS[doing]
            with self.subTest(phase=phase, doing=doing, signal=number):
                self.setUp()
                (self.at / "m.mo").write_text(f"model M parameter Real k = 1; {PHASES[phase]} end M;\n")
                status, errors = self.end(self.begin(words), number)
                self.assertEqual(status, 128 + number, errors)
                if kept and phase not in SOUGHT:
                    self.assertIn(kept, self.left())
                    if kept == "o.csv":
                        self.assertTrue((self.at / kept).read_text().endswith("\n"))
                elif phase in SOUGHT:
                    self.assertEqual(self.left(), [])

    def test_resume_of_a_storm(self):
        """An interrupted run with very many events continues: the rows are those of an uninterrupted run."""
        text = f"model M parameter Real k = 1; {PHASES['a storm of time events']} end M;\n".replace("1e9", "2e5")
        (self.at / "m.mo").write_text(text)
        words = ["simulate", "m.mo", "--output-file", "o.csv", "--part-interval", "0.02"]
        status, errors = self.end(self.begin(words), signal.SIGTERM)
        if status == 143:  # otherwise it was faster than this test
            self.assertEqual(subprocess.run([DAEDAL, *words, "--resume", "-q"], cwd=self.at).returncode, 0)
        rows = (self.at / "o.csv").read_text().splitlines()
        self.assertEqual(int(float(rows[-1].split(",")[rows[0].split(",").index("n")])), 31831)  # 2e5/(2 pi) events, and the one at the start

    def test_two_signals_in_a_row(self):
        process = self.begin(COMMANDS["simulate"][0])
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, 143)

    def test_ignored_signals_stay_ignored(self):
        run = subprocess.run(["sh", "-c", f"trap '' INT; '{DAEDAL}' simulate osc.mo --stop-time 500 -q & kill -INT $!; wait $!"],
                             cwd=self.at)
        self.assertEqual(run.returncode, 0)

    def test_resume(self):
        """An interrupted run continues, with the rows of an uninterrupted one."""
        words = ["simulate", "osc.mo", "--stop-time", "2000", "--output-file", "o.csv", "--part-interval", "0.05"]
        process = self.begin(words)
        for _ in range(2000):
            if (self.at / "o.csv.part.state").exists() or process.poll() is not None:
                break
            time.sleep(0.005)
        if process.poll() is None:
            self.assertIn(self.end_now(process), (0, 143))
        if not (self.at / "o.csv.part").exists():
            return  # it was faster than this test
        self.assertEqual(subprocess.run([DAEDAL, *words, "--resume", "-q"], cwd=self.at).returncode, 0)
        resumed = (self.at / "o.csv").read_text().splitlines()
        self.assertEqual(len(resumed), 502)

    @staticmethod
    def end_now(process):
        process.send_signal(signal.SIGTERM)
        process.communicate()
        return process.returncode


class FullDisks(Case):
    def setUp(self):
        super().setUp()
        (self.at / "full.c").write_text(FULL)
        if not SANITIZED:
            subprocess.run(["cc", "-shared", "-fPIC", "-o", "full.so", "full.c", "-ldl"], cwd=self.at, check=True)

    @unittest.skipIf(SANITIZED, "the runtime of a sanitizer must come first")
    def test_every_writer(self):
        for name, words in WRITERS.items():
            for left in (0, 40):
                with self.subTest(name=name, left=left):
                    run = subprocess.run([DAEDAL, *words, "-q"], cwd=self.at, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                         env={**os.environ, "LD_PRELOAD": str(self.at / "full.so"), "DISK_LEFT": str(left)})
                    self.assertEqual(run.returncode, 7, run.stderr)
                    self.assertIn("No space left on device", run.stderr)
                    self.assertIn("the disk is full", run.stderr)
                    self.assertFalse([p for p in self.left() if not p.endswith(KEPT)])

    def test_standard_output(self):
        for words in (["flatten", "osc.mo"], ["analyze", "osc.mo"], ["init", "osc.mo"], ["simulate", "osc.mo", "--output-file", "-", "-q"],
                      ["simulate", "osc.mo", "--json", "-", "-q"], ["sweep", "osc.mo", "--vary", "k=1:1:3", "--output-file", "-", "-q"],
                      ["doctor"], ["--help"], ["--version"], ["completion", "bash"]):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                run = subprocess.run([DAEDAL, *words], cwd=self.at, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(run.returncode, 7, run.stderr)
                self.assertIn("the disk is full", run.stderr)


if __name__ == "__main__":
    unittest.main()
