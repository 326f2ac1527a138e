"""Positive feedback around a limit: generated triggers and relaxation oscillators with an amplifier of finite gain. They jump where
their branch of the solution ends at a corner, at times in closed form. At a smooth fold the solution ends. A flow that stops and
reverses leaves an enthalpy undetermined at that instant: it continues with the value of the reversed flow. Wide runs: see runs.py."""
import csv
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from runs import BUILD, SANITIZED, Run, Tally, by_turns, seeds, simulate

SOLVERS = ("auto", "erk", "radau", "bdf", "ida", "cvode")
EXPORTED = ("erk", "radau", "bdf")
SINGULAR = "were singular for an instant"


def run_exported(text, solver):
    """The run of the exported program."""
    with tempfile.TemporaryDirectory() as folder:
        model, program = pathlib.Path(folder, "m.mo"), pathlib.Path(folder, "c")
        model.write_text(text, encoding="utf-8")
        subprocess.run([os.environ["DAEDAL"], "export", model, "--c", program, "--standalone", "--solver", solver, "-q"], check=True)
        subprocess.run(["make", "-s", "-C", program, "CC=cc", "CFLAGS=-O0 -std=c99"], check=True)
        done = subprocess.run([program / "model"], capture_output=True, text=True, check=False)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    return Run(done.returncode, done.stderr, "failed" if done.returncode else "", columns)


def jumps(columns):
    """Times at which the output changes its sign."""
    out = columns["out"]
    return [t for t, a, b in zip(columns["time"][1:], out, out[1:]) if a * b < 0]


def declarations(rng):
    gain, limit, share = 10 ** rng.uniform(2, 4), rng.uniform(3, 15), rng.uniform(0.2, 0.6)
    limited = "if gain*v > limit then limit else if gain*v < -limit then -limit else gain*v"
    return gain, limit, share, rng.choice(("noEvent({})", "smooth(0, noEvent({}))", "smooth(0, {})")).format(limited)


def trigger(rng):
    """The output is fed back to the input, which rises and falls."""
    gain, limit, share, amplifier = declarations(rng)
    speed = rng.uniform(5, 20)
    text = f"""model trigger
  parameter Real gain = {gain!r}, limit = {limit!r}, k = {share!r};
  Real u = 2*limit*cos({speed!r}*time), v, out(start = {limit!r});
equation
  v = (1 - k)*u + k*out;
  out = {amplifier};
  annotation(experiment(StopTime = 2));
end trigger;
"""
    edge = (limit * share - limit / gain) / (1 - share) / (2 * limit)  # of -cos
    expected, turn = [], 0
    while True:
        base = math.acos(-edge) if turn % 2 == 0 else 2 * math.pi - math.acos(edge)
        t = (base + 2 * math.pi * (turn // 2)) / speed
        if t >= 2:
            return text, expected
        if edge < 1:
            expected.append(t)
        turn += 1


def oscillator(rng):
    """The output charges a capacitor, whose voltage switches the output."""
    gain, limit, share, amplifier = declarations(rng)
    delay = rng.uniform(0.05, 0.3)
    text = f"""model oscillator
  parameter Real gain = {gain!r}, limit = {limit!r}, k = {share!r}, T = {delay!r};
  Real c(start = 0, fixed = true), v, out(start = {limit!r});
equation
  v = k*out - c;
  out = homotopy({amplifier}, limit);
  T*der(c) = out - c;
  annotation(experiment(StopTime = 2));
end oscillator;
"""
    edge = share * limit - limit / gain
    first, period = delay * math.log(limit / (limit - edge)), delay * math.log((limit + edge) / (limit - edge))
    expected = []
    while first < 2:
        expected.append(first)
        first += period
    return text, expected


BALANCES = ("0 = noEvent(if m > 0 then m*(into - h) else m*(h - back))", "0 = m*heat",
            "0 = m*(smooth(0, noEvent(if m > 0 then into else h)) - noEvent(if m > 0 then h else back))")


def rest(rng):
    """A pump against a pressure that rises until the flow reverses; a tank counts the flow. The density depends on the enthalpy
    that the flow brings."""
    return rest_with(rng, -6, -4.5)


def stay(rng):
    """A pump as in `rest`, with a density that depends so strongly on the enthalpy that the flow rests for a while. m = 0 also solves the equations after that time, but this solution only touches the
    others."""
    return rest_with(rng, -3, 0)


def rest_with(rng, least, most):
    into, fall = rng.uniform(1, 5), rng.uniform(0.002, 0.1)
    slope, head, speed = 10 ** rng.uniform(least, most), rng.uniform(0.5, 2), rng.uniform(0.3, 1)
    back, stop = into - fall, 1 / speed
    text = f"""model rest
  parameter Real into = {into!r}, back = {back!r}, head = {head!r};
  Real m(start = 1), h(start = {into!r}), rho, heat = noEvent(if m > 0 then into - h else h - back), p = head*(0.5 + {speed!r}*time), tank(start = 0, fixed = true);
equation
  rho = 1 - {slope!r}*(h - into);
  p = rho*head*(1 - m);
  {rng.choice(BALANCES)};
  der(tank) = m;
  annotation(experiment(StopTime = {stop!r}));
end rest;
"""
    rho = 1 + slope * fall
    begin = (rho - 0.5) / speed  # time of the reversed flow
    tank = 0.125 / speed + (stop - begin) * (1 - (0.5 + speed * (begin + stop) / 2) / rho)
    return text, {"m": 1 - 1.5 / rho, "h": back, "tank": tank}


def is_reversed(run, expected):
    return all(abs(run.end(name) - value) < 1e-3 for name, value in expected.items())


def is_reversed_or_told(run, expected):
    """Exports do not examine singular points, but say that the solution may have left its branch there."""
    return is_reversed(run, expected) or SINGULAR in run.words


def is_followed(run, expected):
    """Nothing is wrong at a fold that the export has found."""
    return is_right(run, expected) and SINGULAR not in run.words


def is_right(run, expected):
    found = jumps(run.columns)
    is_told = "jumps from" in run.words or not expected
    return len(found) == len(expected) and is_told and all(abs(a - b) < 1e-4 for a, b in zip(found, expected))


class Folds(unittest.TestCase):
    def check(self, draw, is_right=is_right, solvers=SOLVERS, may_refuse=0.0):
        tally = Tally(draw.__name__)
        for seed in seeds(12, quick=4):
            text, expected = draw(random.Random(f"{draw.__name__} {seed}"))
            for solver in by_turns(solvers, seed):
                run = simulate(text, solver=solver)
                tally.add(run, lambda: is_right(run, expected), draw.__name__, seed, solver)
        tally.check(self, may_refuse)

    def test_trigger(self):
        self.check(trigger, may_refuse=0.05)

    def test_oscillator(self):
        self.check(oscillator, may_refuse=0.05)

    def test_rest(self):
        self.check(rest, is_reversed, ("auto", "erk", "radau", "bdf", "ida"), 0.1)

    def test_stay(self):
        self.check(stay, is_reversed, ("auto", "erk", "radau", "bdf", "ida"), 0.3)

    @unittest.skipIf(SANITIZED or not shutil.which("cc"), "a compiler is needed")
    def test_exported(self):
        for turn, (draw, check) in enumerate(((oscillator, is_followed), (trigger, is_followed), (rest, is_reversed_or_told), (stay, is_reversed_or_told)), 1):
            tally = Tally(f"exported {draw.__name__}")
            for seed in seeds(12, quick=1):
                text, expected = draw(random.Random(f"{draw.__name__} {seed}"))
                for solver in by_turns(EXPORTED, seed + turn):
                    run = run_exported(text, solver)
                    tally.add(run, lambda: check(run, expected), draw.__name__, seed, solver)
            tally.check(self, may_refuse=0.05)

    @unittest.skipIf(SANITIZED or not shutil.which("cc"), "a compiler is needed")
    def test_event_mode(self):
        """An FMU for co-simulation returns at each fold; the importer lets it jump."""
        text, expected = oscillator(random.Random("oscillator 0"))
        with tempfile.TemporaryDirectory() as folder:
            model, fmu = pathlib.Path(folder, "m.mo"), pathlib.Path(folder, "m.fmu")
            model.write_text(text, encoding="utf-8")
            subprocess.run([os.environ["DAEDAL"], "export", model, "--fmu", fmu, "--solver", "radau", "-q"], check=True)
            done = subprocess.run([BUILD / "tests/fmi_driver", fmu, "events"], capture_output=True, text=True, check=True)
        self.assertIn("jumps from", done.stderr)
        for what in "events", "changes":
            self.assertIn(f"{what}\t{len(expected)}\n", done.stdout)

    def test_start_on_a_fold(self):
        """The rate is infinite there except for round-off, and the solution does not continue: the run is refused within a few steps, or it is right."""
        rng = random.Random(5)
        for seed in range(12):
            slope, top = rng.uniform(0.5, 3), rng.uniform(0.5, 2)
            other = ("", "  Real v = der(x);\n", "  Real y(start = 0, fixed = true);\n")[seed % 3]
            rate = "  der(y) = x;\n" if "y" in other else ""
            text = (f"model start\n  Real x(start = {math.pi / 2 / slope!r});\n{other}equation\n"
                    f"  {top!r}*sin({slope!r}*x) = {top!r}*exp(-time);\n{rate}end start;\n")
            for solver in ("auto", "erk", "radau", "bdf"):
                run = simulate(text, solver=solver, stop_time=1)
                with self.subTest(seed=seed, solver=solver):
                    if run.status == 0:
                        self.assertLess(abs(abs(run.end("x") - math.pi / 2 / slope) - math.acos(math.exp(-1)) / slope), 1e-4, text)
                    else:
                        self.assertEqual(run.status, 6, run.words)
                        self.assertIn("integration stopped at time", run.words)


if __name__ == "__main__":
    unittest.main()
