"""Events inside a step that its ends do not show: generated pulses of algebraic unknowns, from a hundredth to a ten-millionth of the run wide, with every solver. A run must report what it
misses: a pulse that is not counted lies in a span of the certificate's
`unproven`.

Wide runs: see runs.py."""
import math
import random
import unittest

import runs

SOLVERS = [name for name in runs.solver_names() if name != "dopri5"]


def pulse(shape, at, width):
    u = f"((x - {at!r})/{width!r})"
    return {"bell": f"exp(-{u}^2)", "bow": f"1/(1 + {u}^2)", "step": f"(tanh({u} + 1) - tanh({u} - 1))/1.6"}[shape]


# Equations that give z, and perhaps y, by a pulse p that rises to 1; z passes 0.5 upwards once in each.
GIVEN = {
    "cubic": "z^3 + z = 2*({p});",
    "steep": "z + 0.2*sin(z) = 1.2*({p});",
    "pair": "z + y^3 = 1.1*({p}); y = 0.3*z + 0.1*cos(y);",
    "exponential": "exp(z) - exp(-z) = 2.4*({p});",
}


def draw(seed):
    """The text of a model, its pulses (time, width), and its kind."""
    rng = random.Random(seed)
    count, given, shape = rng.randint(1, 3), rng.choice(list(GIVEN)), rng.choice(["bell", "bow", "step"])
    times = [(k + rng.uniform(0.2, 0.8)) / count for k in range(count)]
    widths = [10 ** rng.uniform(-7, -2) for _ in times]
    if shape == "bow":
        widths = [min(width, 1e-3) for width in widths]
    p = " + ".join(pulse(shape, at, width) for at, width in zip(times, widths))
    bends = rng.choice([0, 0, 5, 13, 20])  # conditions whose branches meet, which cause no events
    bent = " + ".join(f"(if x > {(k + 0.5) / bends!r} then (x - {(k + 0.5) / bends!r})^2 else 0)" for k in range(bends)) or "0"
    text = f"""model M
  Real x(start = 0, fixed = true), z(start = 0), b(start = 0, fixed = true);{' Real y(start = 0.1);' if given == 'pair' else ''}
  discrete Real count(start = 0, fixed = true);
equation
  der(x) = 1;
  {GIVEN[given].format(p=p)}
  der(b) = {bent};
  when z > 0.5 then
    count = pre(count) + 1;
  end when;
end M;
"""
    return text, list(zip(times, widths)), f"{given} {shape} {bends}"


def is_told(pulses, unproven):
    """How many pulses lie in spans that are not proven?"""
    return sum(any(low - 3 * width <= at <= high + 3 * width for low, high in unproven) for at, width in pulses)


class Watcher(unittest.TestCase):
    def test_implicit_pulses(self):
        found, told, tally = 0, 0, runs.Tally("implicit pulses")
        for seed in runs.seeds(25):
            text, pulses, kind = draw(seed)
            for solver in runs.by_turns(SOLVERS, seed):
                run = runs.simulate(text, stop_time=1.0, solver=solver, tolerance=1e-6, intervals=5)
                if run.status:
                    tally.add_refused(run, seed, kind, solver)
                    continue
                certificate = run.report["certificate"]
                missed = len(pulses) - run.end("count")
                found += run.end("count")
                told += missed > 0
                if missed < 0 or missed > is_told(pulses, certificate["unproven"]):
                    tally.add_wrong(seed, kind, solver, missed, certificate)
                else:
                    tally.add_right()
        tally.check(self, may_refuse=0.1)
        self.assertGreater(found, 10 * told)

    def test_accumulation(self):
        """A ball whose bounces accumulate never falls through the floor: the run ends with a message, even if bounces are lower than the error of a method. In the last seeds an event is
        located late because of the hysteresis that lets the ball rest."""
        tally = runs.Tally("accumulation")
        for seed in [*runs.seeds(12), 523, 531, 549]:
            rng = random.Random(seed)
            keeps, height = rng.uniform(0.3, 0.85), 10 ** rng.uniform(-1, 1)
            first = math.sqrt(2 * height / 9.81)
            end = first * (1 + keeps) / (1 - keeps)  # infinitely many bounces before
            text = f"""model M
  Real h(start = {height!r}, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v; der(v) = -9.81;
  when h < 0 then reinit(v, -{keeps!r}*pre(v)); end when;
end M;
"""
            for solver in runs.by_turns(SOLVERS, seed):
                run = runs.simulate(text, stop_time=1.5 * end, solver=solver, tolerance=1e-6, intervals=50)
                if run.status and "infinitely often" in str(run.words):
                    tally.add_right()
                elif run.status:
                    tally.add_refused(run, seed, "ball", solver)
                else:
                    tally.add(run, lambda: min(run.columns["h"]) > -1e-3 * height, seed, solver, keeps)
        tally.check(self, may_refuse=0.1)

    def test_starts_on_an_edge(self):
        """A condition that is at its edge at the start fires exactly if the solution crosses it."""
        tally = runs.Tally("starts on an edge")
        for seed in runs.seeds(12):
            rng = random.Random(seed)
            rate, turns, op = rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 2), rng.uniform(2, 6), rng.choice([">", "<"])
            text = f"""model M
  Real x(start = 0, fixed = true);
  discrete Real n(start = 0, fixed = true);
equation
  der(x) = {rate!r}*cos({turns!r}*time);
  when x {op} 0 then n = pre(n) + 1; end when;
end M;
"""
            leads = (rate > 0) == (op == ">")  # x follows the sine
            half = math.floor(turns / math.pi)  # changes of sign in one second
            expected = 1 + half // 2 if leads else (half + 1) // 2
            for solver in runs.by_turns(SOLVERS, seed):
                run = runs.simulate(text, stop_time=1.0, solver=solver, tolerance=1e-7, intervals=5)
                tally.add(run, lambda: run.end("n") == expected, seed, solver, rate, turns, op)
        tally.check(self)

    def test_nothing_to_prove(self):
        """The events of a model without conditions, or with conditions only on time, are complete at no cost."""
        for equations in ("der(x) = -x;", "der(x) = if time > 0.3 then 1 else -1;"):
            run = runs.simulate(f"model M\n  Real x(start = 1, fixed = true);\nequation\n  {equations}\nend M;\n", stop_time=1.0)
            certificate = run.report["certificate"]
            self.assertTrue(certificate.pop("defect") is None or run.report["steps"] > 0)
            self.assertEqual(certificate, {"events_complete": 1, "evaluations": 0, "unproven": [], "branch_followed": True})

    def test_not_proven(self):
        """The value of a called function has no bounds."""
        text = """model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := u;
    while y > 1 loop
      y := y - 1;
    end while;
  end f;
  Real x(start = 0, fixed = true);
  discrete Real k(start = 0, fixed = true);
equation
  der(x) = 1;
  when f(x) > 0.5 then
    k = pre(k) + 1;
  end when;
end M;
"""
        certificate = runs.simulate(text, stop_time=0.9).report["certificate"]
        self.assertEqual(certificate["events_complete"], 0)
        self.assertEqual(certificate["unproven"], [[0, 0.9]])

    def test_pulses_in_functions(self):
        """Functions whose loops depend on data may jump for a moment: a run that steps over that does not claim to be complete."""
        for seed in runs.seeds(12):
            rng = random.Random(seed)
            at, width, argument = rng.uniform(0.1, 0.8), 10 ** rng.uniform(-7, -1), rng.choice(["s", "time", "v"])
            text = f"""model M
  function f input Real u; output Real y; protected Real r; algorithm
    r := u; while r >= 1 loop r := r - 1; end while; y := if r > {at!r} and r < {at + width!r} then 1 else 0;
  end f;
  Real x(start = 0, fixed = true), s(start = 0, fixed = true), v = 3*s - 2*time;
equation
  der(s) = 1;
  der(x) = {1 / width!r}*f({argument});
end M;
"""
            for solver in runs.by_turns(SOLVERS, seed):
                run = runs.simulate(text, stop_time=1.0, solver=solver)
                self.assertEqual(run.status, 0, run.words)
                if abs(run.end("x") - 1) > 0.01:
                    self.assertLess(run.report["certificate"]["events_complete"], 1, text)
                    self.assertEqual(is_told([(at, width)], run.report["certificate"]["unproven"]), 1)

    def test_time_that_is_proven(self):
        """An oscillator that passes its edge often: all of the time is proven, before and after each event."""
        text = """model M
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  discrete Real k(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  when x > 0.25 then
    k = pre(k) + 1;
  end when;
end M;
"""
        for solver in SOLVERS:
            run = runs.simulate(text, stop_time=20 * math.pi, solver=solver, tolerance=1e-6)
            self.assertEqual(run.end("k"), 10)
            self.assertEqual(run.report["certificate"]["events_complete"], 1, solver)


if __name__ == "__main__":
    unittest.main()
