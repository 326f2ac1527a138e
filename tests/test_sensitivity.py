"""Sensitivities of simulate: against differences of accurate runs, of the examples of high index, stiff ones, through pivots and
events, with initial equations and free parameters, and of generated models; names, refusals.

DAEDAL_SENSITIVITY_MODELS widens the test: so many models are drawn, 12 without it."""
import csv
import math
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
WORK = pathlib.Path(tempfile.mkdtemp())
SLOW = os.environ.get("BUILD_KIND") != "release"
COUNT = int(os.environ.get("DAEDAL_SENSITIVITY_MODELS", "4" if SLOW else "12"))
SOLVERS = ("auto",) if SLOW else ("auto", "radau", "erk", "bdf")


def simulate(model, *options, status=0):
    path = model if isinstance(model, pathlib.Path) else WORK / "m.mo"
    if path != model:
        path.write_text(model)
    done = subprocess.run([DAEDAL, "simulate", str(path), "--output-file", str(WORK / "o.csv"), "-q", *options],
                          capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    if status:
        return done.stderr
    with open(WORK / "o.csv") as file:
        rows = list(csv.reader(file))
    return {name: [float(row[c]) for row in rows[1:]] for c, name in enumerate(rows[0])}


def difference(model, target, value, options, step):
    """Derivatives of all signals by differences of fourth order."""
    name = target.removesuffix(".start")
    runs = {k: simulate(model, *options, "--tolerance", "1e-12", "--override", f"{name}={value + k * step!r}")
            for k in (-2, -1, 1, 2)}
    return {signal: [(8 * (b - a) - (d - c)) / (12 * step)
                     for a, b, c, d in zip(runs[-1][signal], runs[1][signal], runs[-2][signal], runs[2][signal])]
            for signal in runs[1] if signal != "time"}, runs[1]


class Sensitivity(unittest.TestCase):
    def check(self, model, targets, *options, solvers=SOLVERS, step=1e-3, accuracy=1e-6, ignore=()):
        """targets: names with their values. Errors are relative to the largest derivative, or to a hundredth of signal over target:
        what is known of a signal is relative to its size."""
        options = (*options, "--intervals", "12", "--no-event-rows")
        expected = {target: difference(model, target, value, options, step * (abs(value) or 1))
                    for target, value in targets.items()}
        for solver in solvers:
            found = simulate(model, *options, "--tolerance", "1e-9", "--solver", solver, "--sensitivity",
                             ",".join(targets))
            for target, (slopes, values) in expected.items():
                for signal, slope in slopes.items():
                    if signal in ignore:
                        continue
                    size = max(max(map(abs, slope)), 0.01 * max(map(abs, values[signal])) / (abs(targets[target]) or 1))
                    error = max(abs(a - b) for a, b in zip(slope, found[f"der({signal}, {target})"]))
                    self.assertLessEqual(error, accuracy * size, (solver, target, signal))

    def example(self, name, targets, *options, **keywords):
        self.check(SOURCE / "examples" / name, targets, *options, **keywords)

    def test_pendulum(self):
        """Index 3, through pivots."""
        self.example("pendulum.mo", {"L": 1, "g": 9.81, "y.start": 0}, "--stop-time", "3")

    def test_double_pendulum(self):
        self.example("double_pendulum.mo", {"g": 9.81}, "--stop-time", "2", ignore=("E",), step=1e-4)

    def test_slider_crank(self):
        self.example("slider_crank.mo", {"r": 0.5, "J": 0.3}, "--stop-time", "1", ignore=("E",))

    def test_akzo_nobel(self):
        """Amounts of gas are small beside the absolute tolerance: they are looked at apart."""
        gas = ("y2", "der(y2)", "Fin")
        self.example("chemakzo.mo", {"k1": 18.7, "klA": 3.3, "y1.start": 0.444}, solvers=("auto", "radau"), ignore=gas,
                     step=5e-3, accuracy=3e-6)
        self.example("chemakzo.mo", {"k1": 18.7, "y1.start": 0.444}, solvers=("radau",), accuracy=1e-3)

    def test_amplifier(self):
        self.example("transamp.mo", {"R": 9000, "Ub": 6}, "--stop-time", "0.05", solvers=("auto", "radau"), step=5e-4,
                     accuracy=2e-6)

    def test_bouncing_ball(self):
        self.example("events/bouncing_ball.mo", {"e": 0.8, "g": 9.81, "h.start": 1}, "--stop-time", "1.5", step=1e-4)

    def test_rectifier(self):
        self.example("events/rectifier.mo", {"R": 10, "C": 1e-3, "amplitude": 10}, "--stop-time", "0.045", step=1e-4)

    def test_sampled_controller(self):
        text = """model M
          parameter Real k = 2, T = 0.3;
          Real x(start = 1, fixed = true);
          discrete Real u(start = 0, fixed = true), s(start = 0, fixed = true);
        equation
          der(x) = -x/T + u;
          when sample(0, 0.1) then
            s = pre(s) + 0.1*x;
            u = -k*x - s;
          end when;
        end M;"""
        self.check(text, {"k": 2, "T": 0.3, "x.start": 1}, "--stop-time", "0.95")

    def test_discrete_state(self):
        """An event of a state sets what later equations and conditions use."""
        text = """model M
          parameter Real a = 1.3, level = 0.4;
          Real x(start = 0, fixed = true), y(start = 0, fixed = true);
          discrete Real at(start = 0, fixed = true), rate(start = a, fixed = true);
        equation
          der(x) = rate*(1 - y/3);
          der(y) = x - a*y;
          when x > level + at then
            at = x + 0.2*y;
            rate = a*pre(rate)/(1 + time);
          end when;
        end M;"""
        self.check(text, {"a": 1.3, "level": 0.4}, "--stop-time", "2", step=1e-4)

    def test_initial_equations(self):
        """Steady at the start, with a parameter that initialization determines and one bound to it."""
        text = """model M
          parameter Real a = 2, b(fixed = false, start = 1), c = 2*b;
          Real x(start = 1), y(start = 0.5);
        initial equation
          der(x) = 0; y = sin(a); x = 1 + y^2;
        equation
          der(x) = -a*x + b*y + c*y^2;
          der(y) = x*y - a*y^3 - 0.1*c*y;
        end M;"""
        self.check(text, {"a": 2}, "--stop-time", "1")

    def test_bound_parameters(self):
        text = """model M
          parameter Real a = 2, b = a^2, c = b + 1;
          Real x(start = c, fixed = true), z = 3*b;
        equation
          der(x) = -b*x + sin(c*time);
        end M;"""
        self.check(text, {"a": 2}, "--stop-time", "1")
        found = simulate(text, "--override", "b=5,c=3", "--sensitivity", "a")
        self.assertEqual(found["der(x, a)"], [0.0] * len(found["time"]))

    def test_generated(self):
        """Random nonlinear equations with hidden constraints: a point on a curve, driven by parameters."""
        draw = random.Random(7)
        for number in range(COUNT):
            a, b, c, d = (round(draw.uniform(0.5, 1.5), 3) for _ in range(4))
            power = draw.choice((2, 4))
            text = f"""model M
              parameter Real a = {a}, b = {b}, c = {c}, d = {d};
              Real x(start = 0.3, fixed = true), y(start = 0.9), u(start = {draw.uniform(-1, 1):.3f}, fixed = true), v, l;
              Real w(start = b, fixed = true), q;
            equation
              u = der(x); v = der(y);
              der(u) = -l*{power}*x^{power - 1}*a + w*sin(c*time) - {draw.uniform(0, 0.5):.3f}*u;
              der(v) = -l*2*y*b - d - 0.1*w*v;
              a*x^{power} + b*y^2 = 1;
              der(w) = {draw.choice(('-c*w + x*y', 'q - w', '-w + (if x > 0.1*d then a else -b)'))};
              q + 0.3*sin(q) = x + d*w;
            end M;"""
            self.check(text, {"a": a, "b": b, "c": c, "d": d, "x.start": 0.3}, "--stop-time", "0.6",
                       solvers=(SOLVERS[number % len(SOLVERS)],), step=1e-4, accuracy=2e-6)

    def test_ball_in_table(self):
        """Generated: bounces with losses that depend on parameters, between a floor and a ceiling."""
        draw = random.Random(11)
        for _ in range(COUNT // 4):
            e, g, top, k = (round(draw.uniform(*range_), 3) for range_ in ((0.6, 0.95), (5, 12), (0.8, 1.2), (0, 0.5)))
            text = f"""model M
              parameter Real e = {e}, g = {g}, top = {top}, k = {k};
              Real h(start = 0.5, fixed = true), v(start = {draw.uniform(3, 5):.3f}, fixed = true);
              Real lost(start = 0, fixed = true);
            equation
              der(h) = v; der(v) = -g - k*v*abs(v); der(lost) = if v > 0 then k*v^3 else 0;
              when h <= 0 then
                reinit(v, -e*pre(v)); reinit(lost, pre(lost) + (1 - e^2)*pre(v)^2/2);
              end when;
              when h >= top then
                reinit(v, -pre(v)*(1 - 0.1*pre(v)/(1 + pre(v)^2)));
              end when;
            end M;"""
            self.check(text, {"e": e, "g": g, "top": top, "k": k}, "--stop-time", "1.1", step=1e-5, solvers=("auto",),
                       accuracy=1e-5)

    def test_names(self):
        found = simulate("model M parameter Real k = 2; Real x(start = 1, fixed = true), y = -x; equation der(x) = -k*x; end M;",
                         "--sensitivity", "k,x.start", "--tolerance", "1e-9")
        for name, expected in (("der(x, k)", -math.exp(-2)), ("der(y, k)", math.exp(-2)), ("der(x, x.start)", math.exp(-2)),
                               ("der(der(x), x.start)", -2 * math.exp(-2))):
            self.assertAlmostEqual(found[name][-1], expected, delta=1e-8)

    def test_bands(self):
        picture = WORK / "p.svg"
        simulate(SOURCE / "examples/pendulum.mo", "--sensitivity", "L,g", "--plot", str(picture), "--plot-bands", "L=0.01, g=0.05",
                 "--plot-variables", "x,y", "--stop-time", "1")
        self.assertEqual(picture.read_text().count("fill-opacity"), 2)
        self.assertIn("no sensitivity of x by `q`", simulate(SOURCE / "examples/pendulum.mo", "--sensitivity", "L", "--plot",
                                                             str(picture), "--plot-bands", "q=1", "--plot-variables", "x",
                                                             status=2))

    def test_refusals(self):
        model = "model M parameter Integer n = 2; parameter Real a = 1; final parameter Real f = 1; Real v[n]; Real x(start = 1);\n" \
                "equation for i in 1:n loop v[i] = a*f*i; end for; der(x) = -a*x; end M;"
        for target, words in (("b", "differentiate by"), ("n", "no Real"), ("f", "final"), ("x", "x.start|NAME.start")):
            self.assertRegex(simulate(model, "--sensitivity", target, status=2), words)
        delayed = "model M parameter Real a = 1; Real x(start = 1, fixed = true); equation der(x) = -a*delay(x, 0.1); end M;"
        self.assertIn("delay", simulate(delayed, "--sensitivity", "a", status=2))
        sampled = "model M parameter Real a = 0.1; discrete Real x(start = 0); equation when sample(0, a) then x = pre(x) + 1; end when; end M;"
        self.assertIn("sample", simulate(sampled, "--sensitivity", "a", status=2))
        guessed = (SOURCE / "examples/pendulum.mo").read_text().replace("x(start = 1)", "x(start = 0.8)").replace(
            "y(start = 0, fixed = true)", "y(start = 0.8)")
        self.assertIn("guess", simulate(guessed, "--sensitivity", "L", status=5))
        self.assertIn("method dummy", simulate(SOURCE / "examples/pendulum.mo", "--method", "projection", "--sensitivity", "L",
                                               status=2))


if __name__ == "__main__":
    unittest.main()
