"""Absolute tolerances without nominal values: the sizes of the states come from their values so far.

Random systems of equations in variables of size 1 are written in variables of different sizes, from 1e-12 to 1e12. In exact
arithmetic the solution is the same except for these factors. A run must be as accurate, relative to the largest value of each
state, as one of size 1. A state that is less accurate must be named in the report. Some states begin at zero, some decay. Unknowns of
nonlinear equations have nominal values, which Newton's method uses as their scale. States that are zero except for errors of others
must not make steps short.

Wide runs: see runs.py."""
import json
import random
import unittest

from runs import SOURCE, Tally, by_turns, seeds, simulate, solver_names

SOLVERS = [name for name in solver_names() if name != "dopri5"]
TOLERANCES = (1e-4, 1e-6, 1e-8)
INTERVALS = 40


class System:
    """Oscillators, decays, growth up to a bound, variables driven by them, and unknowns of nonlinear equations, coupled at random.
    `terms` are formulas in X1, X2, ..., Z1, ... of size 1."""

    def __init__(self, rng):
        self.starts, self.rates, self.algebraic = [], [], []
        for _ in range(rng.randint(1, 3)):
            getattr(self, rng.choice(["add_oscillator", "add_oscillator", "add_decay", "add_growth", "add_driven", "add_algebraic"]))(rng)
        self.stop = rng.choice([2.0, 10.0, 30.0])

    def add(self, start, rate):
        self.starts.append(start)
        self.rates.append(rate)
        return f"X{len(self.starts)}"

    def coupling(self, rng):
        """The effect of another state on this one."""
        if not self.starts or rng.random() < 0.3:
            return ""
        return f" + {rng.uniform(0.1, 0.5)!r}*X{rng.randint(1, len(self.starts))}"

    def add_oscillator(self, rng):
        frequency, damping = 10**rng.uniform(-0.5, 1), rng.choice([0, 0, 0.2])
        n = len(self.starts)
        self.add(rng.choice([0.0, 1.0, 0.3]), f"{frequency!r}*X{n + 2}")
        self.add(rng.choice([0.0, -1.0, 0.7]) if self.starts[-1] else 1.0, f"-{frequency!r}*X{n + 1} - {damping!r}*X{n + 2}" + self.coupling(rng))

    def add_decay(self, rng):
        n = len(self.starts) + 1
        self.add(1.0, f"-{10**rng.uniform(-1, 0.5)!r}*X{n}" + rng.choice(["", f"*abs(X{n})"]))

    def add_growth(self, rng):
        n = len(self.starts) + 1
        self.add(10**rng.uniform(-3, -1), f"{rng.uniform(0.5, 2)!r}*X{n}*(1 - X{n})")

    def add_driven(self, rng):
        n = len(self.starts) + 1
        self.add(0.0, f"-{10**rng.uniform(-1, 3)!r}*(X{n} - sin({10**rng.uniform(-0.5, 0.5)!r}*time))" + self.coupling(rng))

    def add_algebraic(self, rng):
        n = len(self.starts) + 1
        self.algebraic.append((n, f"Z{n} + Z{n}^3 - X{n}" + self.coupling(rng)))
        self.add(1.0, f"-{rng.uniform(0.2, 2)!r}*Z{n}")

    def text(self, sizes):
        """The model in variables x = size*X."""
        names = {f"X{k}": f"(x{k}/{size!r})" for k, size in enumerate(sizes, 1)}
        names.update({f"Z{n}": f"(z{n}/{sizes[n - 1]!r})" for n, _ in self.algebraic})

        def put(formula):
            for name in sorted(names, key=len, reverse=True):
                formula = formula.replace(name, names[name])
            return formula

        declared = ", ".join(f"x{k}(start = {start*size!r}, fixed = true)" for k, (start, size) in enumerate(zip(self.starts, sizes), 1))
        unknowns = "".join(f"  Real z{n}(start = {sizes[n - 1]!r}, nominal = {sizes[n - 1]!r});\n" for n, _ in self.algebraic)
        rates = "".join(f"  der(x{k}) = {size!r}*({put(rate)});\n" for k, (rate, size) in enumerate(zip(self.rates, sizes), 1))
        rows = "".join(f"  0 = {sizes[n - 1]!r}*({put(row)});\n" for n, row in self.algebraic)
        return f"model M\n  Real {declared};\n{unknowns}equation\n{rates}{rows}  annotation(experiment(StopTime = {self.stop!r}));\nend M;\n"


def draw_sizes(rng, count):
    """The sizes are all equal, all different, or of two kinds."""
    kind = rng.randrange(3)
    several = [10**rng.uniform(-12, 12) for _ in range(count)]
    if kind == 0:
        return several[:1]*count
    return several if kind == 1 else [rng.choice([1.0, several[0]]) for _ in range(count)]


def missed(run, fine, sizes):
    """For each state the largest error relative to the largest value."""
    result = []
    for k, size in enumerate(sizes, 1):
        exact = fine.columns[f"x{k}"]
        largest = max(map(abs, exact))
        result.append(max(abs(a/size - b) for a, b in zip(run.columns[f"x{k}"], exact))/largest if largest > 0 else 0)
    return result


class Sizes(unittest.TestCase):
    def test_sizes(self):
        tally = Tally("sizes")
        for seed in seeds(300, 60):
            rng = random.Random(seed)
            system = System(rng)
            ones = [1.0]*len(system.starts)
            sizes = draw_sizes(rng, len(ones))
            fine = simulate(system.text(ones), solver="radau", tolerance=1e-11, intervals=INTERVALS)
            for tolerance in by_turns(TOLERANCES, seed):
                for solver in by_turns(SOLVERS, seed//3):
                    how = {"solver": solver, "tolerance": tolerance, "intervals": INTERVALS}
                    run, usual = simulate(system.text(sizes), **how), simulate(system.text(ones), **how)
                    if run.status == 0:
                        named = [state["name"] for state in run.report["below_tolerance"]]
                        allowed = 2000*tolerance + 30*max(missed(usual, fine, ones))
                        wrong = [(k, sizes[k - 1], miss) for k, miss in enumerate(missed(run, fine, sizes), 1)
                                 if not miss <= allowed and f"x{k}" not in named]
                    tally.add(run, lambda: not wrong, seed, solver, tolerance, wrong)
        tally.check(self, may_refuse=0.03)

    def test_beside_large_columns(self):
        """Circuits in which fluxes of 1e-5 to 0.1 give voltages of 1e4 to 1e8, and water flows with pressures. Each state has the required digits, and none may be named."""
        for seed in seeds(100, 20):
            rng = random.Random(seed)
            size, voltage, rate = 10**rng.uniform(-5, -1), 10**rng.uniform(4, 8), 10**rng.uniform(0, 2)
            text = f"""model M
  Real x(start = 0, fixed = true), y(start = {size!r}, fixed = true), u, w;
equation
  u = {voltage / size!r}*x;
  w = {voltage / size!r}*y + u;
  der(x) = {size!r}*({rate!r}*(sin(time) - u/{voltage!r}));
  der(y) = {size!r}*(u - w)/{voltage!r}*(1 + {rng.uniform(0, 0.9)!r}*cos(3*time));
  annotation(experiment(StopTime = 5));
end M;
"""
            tolerance, solver = TOLERANCES[seed % 3], SOLVERS[seed//3 % len(SOLVERS)]
            run, fine = (simulate(text, solver=s, tolerance=t, intervals=INTERVALS) for s, t in ((solver, tolerance), ("radau", 1e-12)))
            with self.subTest(seed=seed, solver=solver, tolerance=tolerance):
                self.assertEqual((run.status, run.report["below_tolerance"]), (0, []), run.words)
                for name in "xy":
                    miss = max(abs(a - b) for a, b in zip(run.columns[name], fine.columns[name]))/size
                    self.assertLess(miss, 200*tolerance)
        reference = json.loads((SOURCE / "bench/ivp/reference.json").read_text())["water"]["reference"]
        for tolerance, allowed in ((1e-6, 3e-4), (1e-8, 1e-5)):
            run = simulate((SOURCE / "examples/water.mo").read_text(), solver="radau", tolerance=tolerance, intervals=1)
            self.assertEqual(run.status, 0, run.words)
            self.assertLess(max(abs(run.end(name)/value - 1) for name, value in reference.items()), allowed)

    def test_rate_that_jumps(self):
        """A state is only round-off, and at a large time its rate jumps without an event. No step can be so short that the state moves by less than the tolerance times its size so far."""
        for seed in seeds(60, 12):
            rng = random.Random(seed)
            at, rest, height, delay = 10**rng.uniform(6, 7), 10**rng.uniform(-20, -15), rng.choice([-1, 1])*rng.uniform(0.1, 1), 10**rng.uniform(-3, -2)
            text = f"""model M
  Real w(start = 1, fixed = true), b(start = 0, fixed = true);
equation
  der(w) = -{10/at!r}*w;
  der(b) = (noEvent(if time < {at!r} then {rest!r}*w else {height!r}) - b)/{delay!r};
end M;
"""
            for words in ({}, {"solver": "bdf"}):
                with self.subTest(seed=seed, **words):
                    run = simulate(text, stop_time=2*at, **words)
                    self.assertEqual(run.status, 0, run.words)
                    self.assertLess(abs(run.end("b") - height), 1e-5)

    def test_terms_that_cancel(self):
        """A state that only the round-off of its rate moves: steps do not follow it. While the solution sticks, the rates of both
        sides cancel."""
        for rate in ("sin(time) - sin(time + 6.283185307179586)", "1 - cos(time)^2 - sin(time)^2 - v", "100*(exp(-time)*exp(time) - 1)", "0.3*sin(time) - 0.5*sign(v)"):
            for solver in solver_names():
                run = simulate(f"model M\n  Real v(start=0, fixed=true), w(start=0, fixed=true);\nequation\n  der(v) = {rate};\n  der(w) = v - w;\nend M;\n", stop_time=10, solver=solver)
                self.assertEqual(run.status, 0, (rate, run.words))
                self.assertLess(run.report["steps"], 1000, (rate, solver))
                self.assertLess(abs(run.end("w")), 1e-6, (rate, solver))

    def test_errors_of_others(self):
        """Differences of two equal states, integrated once and twice, are zero except for their errors: without nominal values
        there are hardly more steps than with them."""
        text = """model M
  Real x1(start = 1, fixed = true), v1(start = 0, fixed = true), x2(start = 1, fixed = true), v2(start = 0, fixed = true);
  Real d(start = 0, fixed = true%s), e(start = 0, fixed = true%s);
equation
  der(x1) = v1; der(v1) = -x1 - 0.1*x1^3; der(x2) = 0.5*v2; der(v2) = -2*x2 - 0.2*x2^3;
  der(d) = %r*(x1 - x2); der(e) = d;
  annotation(experiment(StopTime = 50));
end M;
"""
        for solver in SOLVERS:
            for factor in (1e-6, 1e-3, 1.0):
                with self.subTest(solver=solver, factor=factor):
                    given = f", nominal = {factor!r}"
                    free, held = (simulate(text % (words, words, factor), solver=solver) for words in ("", given))
                    self.assertEqual((free.status, held.status), (0, 0), free.words + held.words)
                    self.assertLess(free.report["steps"], 2*held.report["steps"])


if __name__ == "__main__":
    unittest.main()
