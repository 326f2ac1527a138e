"""Long runs: rows are in FILE.part during the run; after a kill it is readable, and --resume completes the file, with the
trajectory of an uninterrupted run."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
SANITIZED = os.environ.get("BUILD_KIND") in ("asan", "tsan")
PENDULUM = (SOURCE / "examples/pendulum.mo").read_text()
FOREVER = "1e7"

# Text, options, and how far apart the trajectories may be: errors of the steps add up during the run.
MODELS = {
    "pendulum": (PENDULUM, [], 1e-6),
    "ball": ("""model Ball "elastic; impacts are counted"
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Boolean high(start = false, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  high = h > 0.5 or (pre(high) and h > 0.25);
  when h < 0 then
    reinit(v, -pre(v));
    n = pre(n) + 1;
  end when;
end Ball;
""", [], 1e-6),
    "controller": ("""model Controller "the state of the controller is discrete"
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0, fixed = true), e(start = 0, fixed = true), total(start = 0, fixed = true);
equation
  der(x) = -0.2*x + u;
  when sample(0.05, 0.1) then
    e = sin(time) - x;
    total = pre(total) + 0.1*e;
    u = 2*e + 0.5*total + 0.1*(e - pre(e));
  end when;
end Controller;
""", [], 1e-7),
    "thermostat": ("""model Thermostat "of a start that is found, with a parameter that is"
  parameter Real rate(fixed = false, start = 1);
  Real T(start = 10), room(start = 15);
  Boolean on(start = true, fixed = true);
initial equation
  der(T) = 0.75;
  T = 0.5*room + 2.5;
  room = 15;
equation
  der(T) = (if on then rate else 0) - 0.1*(T - room);
  der(room) = 0.05*(T - room) + 0.01*sin(time);
  on = not pre(on) and T < 18 or pre(on) and T < 22;
end Thermostat;
""", [], 1e-6),
    "delay": ("""model Delayed
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -delay(x, 1.3) + 0.1*y;
  der(y) = sin(time) - delay(y, 0.4 + 0.2*sin(time), 1);
end Delayed;
""", [], 1e-5),
    "pipe": ("""model Pipe
  Real x(start = 0, fixed = true), a, b, s(start = 0, fixed = true);
equation
  der(x) = 0.4 + 0.5*sin(time);
  (a, b) = spatialDistribution(cos(time), sin(2*time), x, der(x) >= 0, {0.0, 0.5, 1.0}, {0.0, 1.0, 0.0});
  der(s) = a + b - s;
end Pipe;
""", [], 1e-5),
    "table": ("""model Held
  input Real u;
  Real x(start = 1, fixed = true);
equation
  der(x) = u - sin(x);
end Held;
""", ["--input", "held:u.csv"], 1e-7),
    "sliding": ("""model Sliding
  Real x(start = 0.7, fixed = true), y(start = -0.4, fixed = true), z(start = 0, fixed = true);
equation
  der(x) = -1.5*sign(x - 0.3*sin(time)) + 0.2*y + 0.3*sin(2.3*time);
  der(y) = -1.2*sign(y) + 0.3*x + 0.2*z;
  der(z) = x - 0.1*z;
end Sliding;
""", ["--solver", "radau"], 1e-7),
    "ranks": (PENDULUM, ["--method", "strangeness"], 1e-4),
}
NETLIST = """* a doubler with a load that switches with hysteresis
V1 in 0 SIN(0 5 1k)
C1 in a 1u
D1 0 a DSW
D2 a out DSW
C2 out 0 1u
S1 out b out 0 SX
R1 b 0 1k
.model SX SW(VT=3 VH=1 RON=10 ROFF=1e6)
.model DSW D(IS=1e-12 RS=1 CJO=4p TT=5n)
.tran 10u 10000
"""


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
        self.part = self.path / "r.csv.part"
        self.state = self.path / "r.csv.part.state"
        self.model = "m.mo"

    def command(self, *words):
        return [DAEDAL, "simulate", self.model, "-q", "--output-file", "r.csv", "--part-interval", "0.02", *words]

    def run_command(self, *words):
        return subprocess.run(self.command(*words), cwd=self.path, capture_output=True, text=True)

    def start_and_end(self, number, *words):
        """Starts a run, and ends it by a signal when the part file has some rows."""
        process = subprocess.Popen(self.command(*words), cwd=self.path, stderr=subprocess.PIPE, text=True)
        end = time.time() + 100
        before = self.part.stat().st_size if self.part.exists() else 0
        while process.poll() is None and time.time() < end:
            if self.state.exists() and self.part.stat().st_size > before + 5000:
                break
            time.sleep(0.01)
        process.send_signal(number)
        said = process.communicate()[1]
        self.assertTrue(self.state.exists(), said)
        return said

    def write(self, text):
        (self.path / self.model).write_text(text)

    def compare(self, found, wanted, bound):
        self.assertEqual(found[0], wanted[0])
        self.assertEqual(len(found[1]), len(wanted[1]))
        for one, other in zip(found[1], wanted[1]):
            for value, right in zip(one, other):
                self.assertAlmostEqual(value, right, delta=bound * (1 + abs(right)), msg=f"time {other[0]}")

    def check_kill(self, words, step, bound, kills=2):
        """Kills a run, resumes it, kills that too, resumes to the end, and compares it with an uninterrupted run."""
        words = ["--no-event-rows", "--output-interval", str(step), *words]
        (self.path / "r.csv").unlink(missing_ok=True)
        forever = ["--stop-time", repr(4e7 * step)]
        self.start_and_end(signal.SIGKILL, *words, *forever)
        for _ in range(kills - 1):
            self.start_and_end(signal.SIGKILL, *words, *forever, "--resume")
        self.assertFalse((self.path / "r.csv").exists())
        names, before = rows(self.part)
        self.assertEqual([row[0] for row in before], [step * k for k in range(len(before))])
        stop = ["--stop-time", repr(step * (len(before) + 40))]
        done = self.run_command(*words, *stop, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.part.exists() or self.state.exists())
        found = rows(self.path / "r.csv")
        self.assertEqual(self.run_command(*words, *stop).returncode, 0)
        self.compare(found, rows(self.path / "r.csv"), bound)

    def test_kill(self):
        (self.path / "u.csv").write_text("time,u\n" + "".join(f"{k},{k * 7919 % 5 / 5 - 0.4}\n" for k in range(5000)))
        for name, (text, words, bound) in list(MODELS.items())[:: 3 if SANITIZED else 1]:
            with self.subTest(name):
                self.write(text)
                self.check_kill([*words, "--tolerance", "1e-12"], 0.25, bound, kills=1 if name == "ranks" else 2)

    def test_solvers(self):
        self.write(PENDULUM)
        for solver in ("radau", "bdf", "ida", "cvode")[:1 if SANITIZED else 4]:
            with self.subTest(solver):
                self.check_kill(["--tolerance", "1e-9", "--solver", solver], 0.25, 1e-4, kills=1)

    def test_netlist(self):
        self.model = "m.cir"
        self.write(NETLIST)
        self.check_kill(["--tolerance", "1e-8", "--variables", "v(a),v(out),v(b),i(v1)"], 2.3e-5, 1e-5)

    def test_interrupt(self):
        self.write(PENDULUM)
        said = self.start_and_end(signal.SIGTERM, "--stop-time", FOREVER, "--output-interval", "0.25")
        self.assertIn("--resume continues from r.csv.part", said)
        self.assertTrue((self.path / "r.csv").exists())

    def test_interrupt_before_the_first_writing(self):
        """A run is interrupted right after the first steps, long before a part is due."""
        self.write(PENDULUM)
        words = ["simulate", self.model, "-q", "--output-file", "r.csv", "--output-interval", "0.25", "--part-interval", "1000"]
        for delay in (0.2, 0.5, 1, 2, 5, 10):
            process = subprocess.Popen([DAEDAL, *words, "--stop-time", FOREVER], cwd=self.path, stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            process.communicate()
            if (self.path / "r.csv").exists() and len(rows(self.path / "r.csv")[1]) > 1:
                break
        reached = rows(self.path / "r.csv")[1][-1][0]
        done = subprocess.run([DAEDAL, *words, "--stop-time", str(reached + 10), "--resume"], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows(self.path / "r.csv")[1][-1][0], reached + 10)

    def test_cut_line(self):
        """Rows after those of the state no longer count, complete or cut off."""
        self.write(PENDULUM)
        self.start_and_end(signal.SIGKILL, "--stop-time", FOREVER, "--output-interval", "0.25")
        with open(self.part, "a") as file:
            file.write("0.1,2,3\n0.125,0.4")
        stop = ["--stop-time", FOREVER, "--output-interval", "0.25"]
        self.start_and_end(signal.SIGKILL, *stop, "--resume")
        found = rows(self.part)[1]
        self.assertEqual([row[0] for row in found], [0.25 * k for k in range(len(found))])

    def test_refusals(self):
        self.write(PENDULUM)
        self.assertEqual(self.run_command("--resume").returncode, 7)
        subprocess.run(self.command(), cwd=self.path, check=True)
        self.assertFalse(self.part.exists() or self.state.exists())
        words = ["--output-interval", "0.25", "--stop-time", FOREVER]
        self.start_and_end(signal.SIGKILL, *words)
        for changed in (["--override", "g=1"], ["--start-time", "-1"], ["--method", "baumgarte"], ["--output-interval", "0.5"]):
            done = self.run_command(*words, "--resume", *changed) if changed[0] != words[0] else self.run_command(*changed, *words[2:], "--resume")
            self.assertEqual(done.returncode, 2, changed)
            self.assertIn("cannot be resumed", done.stderr)
        self.write(PENDULUM.replace("9.81", "9.8"))
        self.assertEqual(self.run_command(*words, "--resume").returncode, 2)
        self.state.write_bytes(self.state.read_bytes()[:-1])
        self.assertEqual(self.run_command(*words, "--resume").returncode, 7)


if __name__ == "__main__":
    unittest.main()
