"""Optimal control: the examples of examples/control against closed forms and independent formulations; generated linear-quadratic
problems against Riccati's equation; refusals."""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import numpy

from runs import simulate

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
EXAMPLES = SOURCE / "examples/control"


def run(model, *options, command="simulate"):
    """Exit status, the report, the columns, messages."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        if "\n" in str(model):
            (path / "model.mo").write_text(model)
            model = path / "model.mo"
        files = ["--output-file", str(path / "out.csv"), "--json", str(path / "out.json")] if command == "simulate" else []
        done = subprocess.run([DAEDAL, command, str(model), *files, *map(str, options)], capture_output=True, text=True)
        report = json.loads((path / "out.json").read_text()) if (path / "out.json").exists() else {}
        columns = {}
        if (path / "out.csv").exists():
            with open(path / "out.csv") as file:
                rows = list(csv.DictReader(file))
            columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    return done.returncode, report, columns, done.stderr


def solve(function, guess):
    """A root of two equations in two unknowns by Newton's method with differences."""
    x, y = guess
    for _ in range(60):
        step = 1e-7
        f = function(x, y)
        by_x = [(a - b) / 2 / step for a, b in zip(function(x + step, y), function(x - step, y))]
        by_y = [(a - b) / 2 / step for a, b in zip(function(x, y + step), function(x, y - step))]
        determinant = by_x[0] * by_y[1] - by_x[1] * by_y[0]
        x, y = x - (f[0] * by_y[1] - f[1] * by_y[0]) / determinant, y - (by_x[0] * f[1] - by_x[1] * f[0]) / determinant
    return x, y


def extremum(rates, start, stop, guess, end):
    """The least end(x)[0] at which the other components of end(x) are zero, where x are the coefficients of a control in Legendre polynomials: Newton's method on Lagrange's equations. The
    differences are parallel runs by Runge and Kutta's method."""
    n, steps, difference = len(guess), 200, 1e-4
    h, c, multipliers = stop / steps, numpy.array(guess, float), None
    basis = numpy.polynomial.legendre.legvander(numpy.linspace(-1, 1, 2 * steps + 1), n - 1)

    def values(points):
        u, x = basis @ numpy.array(points).T, numpy.outer(start, numpy.ones(len(points)))
        for k in range(steps):
            first, middle, last = u[2 * k:2 * k + 3]
            k1 = rates(x, first)
            k2 = rates(x + h / 2 * k1, middle)
            k3 = rates(x + h / 2 * k2, middle)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + h * k3, last))
        return end(x)

    moves = difference * numpy.eye(n)
    for _ in range(8):
        near = values([c + s * e for e in moves for s in (1, -1, 2, -2)]).reshape(-1, n, 4)
        pairs = values([c + a * e + b * f for e in moves for f in moves for a in (1, -1) for b in (1, -1)]).reshape(-1, n, n, 4)
        slope = (8 * (near[..., 0] - near[..., 1]) - near[..., 2] + near[..., 3]) / 12 / difference
        curvature = (pairs[..., 0] - pairs[..., 1] - pairs[..., 2] + pairs[..., 3]) / 4 / difference**2
        if multipliers is None:
            multipliers = -numpy.linalg.lstsq(slope[1:].T, slope[0], rcond=None)[0]
        weights, count = numpy.concatenate([[1], multipliers]), len(multipliers)
        matrix = numpy.block([[numpy.tensordot(weights, curvature, 1), slope[1:].T], [slope[1:], numpy.zeros((count, count))]])
        step = numpy.linalg.solve(matrix, -numpy.concatenate([weights @ slope, values([c])[1:, 0]]))
        c, multipliers = c + step[:n], multipliers + step[n:]
    return values([c])[0, 0]


class Control(unittest.TestCase):
    def good(self, model, *options):
        code, report, columns, words = run(model, *options)
        self.assertEqual(code, 0, words)
        return report["boundary"]["found"], columns

    def example(self, name, *options):
        return self.good(EXAMPLES / f"{name}.mo", *options)

    def test_brachistochrone(self):
        """A cycloid: 1 - cos(a) = a - sin(a) for the angle of rolling, r = 1/(1 - cos(a)), T = a sqrt(r/g)."""
        angle = 2.4
        for _ in range(50):
            angle -= (1 - math.cos(angle) - angle + math.sin(angle)) / (math.sin(angle) - 1 + math.cos(angle))
        found, _ = self.example("brachistochrone")
        self.assertAlmostEqual(found["T"], angle * math.sqrt(1 / (1 - math.cos(angle)) / 9.81), delta=1e-8)

    def test_regulator(self):
        """Riccati's equation P' = -2 P + P^2 - 1, P(2) = 0: the adjoint is P x."""
        s = math.tanh(math.sqrt(2) * 2)
        found, run = self.example("regulator")
        self.assertAlmostEqual(found["adjoint_x"], s / (math.sqrt(2) - s), delta=1e-8)
        for t, x, u in zip(run["time"], run["x"], run["u"]):
            s = math.tanh(math.sqrt(2) * (2 - t))
            self.assertAlmostEqual(u, -s / (math.sqrt(2) - s) * x, delta=1e-7)

    def test_double_integrator(self):
        found, run = self.example("double_integrator")
        self.assertAlmostEqual(found["T"], 2, delta=1e-8)
        for t, u in zip(run["time"], run["u"]):
            if abs(t - 1) > 1e-6:
                self.assertEqual(u, 1 if t < 1 else -1)

    def test_least_effort(self):
        """5 up to 1/2 - s and -5 from 1/2 + s on, a line between: 10 (1/8 - s^2/6) = 1."""
        s = math.sqrt(6 * (1 / 8 - 1 / 10))
        found, run = self.example("least_effort")
        self.assertAlmostEqual(found["adjoint_x"], -5 / s, delta=1e-7)
        for t, u in zip(run["time"], run["u"]):
            self.assertAlmostEqual(u, max(-5, min(5, (0.5 - t) * 5 / s)), delta=1e-6)

    def test_lander(self):
        """Free fall for a time, then full thrust, by the rocket equation: height and velocity are zero at the end."""
        exhaust, thrust = 2.349, 1.227

        def end(fall, burn):
            k, v = thrust / exhaust, -0.783 - fall
            m = 1 - k * burn
            return (1 - 0.783 * fall - fall**2 / 2 + v * burn - burn**2 / 2 + exhaust / k * (m * math.log(m) + k * burn),
                    v - burn - exhaust * math.log(m))

        fall, burn = solve(end, (0.3, 1))
        found, run = self.example("lander")
        self.assertAlmostEqual(found["T"], fall + burn, delta=1e-8)
        self.assertAlmostEqual(run["m"][-1], 1 - thrust / exhaust * burn, delta=1e-8)

    def test_swing_up(self):
        """The swing-up of a pendulum with the angle as a variable: index 1."""
        text = """model Angle
  Real a(start = 0, fixed = true), w(start = 0, fixed = true), u;
  Real adjoint_a(start = 10), adjoint_w(start = 8);
equation
  der(a) = w;
  der(w) = -9.81*sin(a) + u;
minimize
  integral(u^2/2);
final equation
  a = 3.141592653589793;
  w = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-10));
end Angle;
"""
        found, run = self.example("swing_up")
        angle, other = self.good(text)
        self.assertAlmostEqual(found["adjoint_vx"], angle["adjoint_w"], delta=1e-6)
        self.assertAlmostEqual(found["adjoint_x"], angle["adjoint_a"], delta=1e-6)
        self.assertLess(max(abs(a - b) for a, b in zip(run["u"], other["u"])), 1e-5)

    def test_swing_up_directly(self):
        """The cost to seven digits by a direct method: least over the coefficients of Legendre polynomials for the torque."""
        guess = [1.6, -0.2, -12, 1.8, 2.6, -2, -0.8, 0.4, 0.3, -0.1, -0.1] + 9 * [0]
        least = extremum(lambda x, u: numpy.array([x[1], u - 9.81 * numpy.sin(x[0]), u * u / 2]), (0, 0, 0), 2, guess,
                         lambda x: numpy.array([x[2], x[0] - math.pi, x[1]]))
        text = (EXAMPLES / "swing_up.mo").read_text().replace("equation\n", "equation\n  der(cost) = u^2/2;\n", 1)
        _, run = self.good(text.replace('u "torque"', 'u "torque", cost(start = 0, fixed = true)'))
        self.assertAlmostEqual(run["cost"][-1], least, delta=3e-6)

    def test_orbit(self):
        """Bryson and Ho give a radius of 1.525 for these data and T = 3.3194; the further digits come from Pontryagin's equations
        by hand, with Runge and Kutta's method."""
        _, run = self.example("orbit", "--stop-time", "3.3194", "--override", "consumption=0.0749")
        self.assertAlmostEqual(run["r"][-1], 1.525, delta=5e-4)
        self.assertAlmostEqual(run["v"][-1], run["r"][-1]**-0.5, delta=1e-7)
        thrust, consumption, stop, steps = 0.1405, 0.0749, 3.3194, 2000

        def rates(t, x):
            r, u, v, p, q, s = x
            push = thrust / (1 - consumption * t) / numpy.hypot(q, s)
            return numpy.array([u, v * v / r - 1 / r**2 - push * q, -u * v / r - push * s,
                                q * (v * v / r**2 - 2 / r**3) - s * u * v / r**2, -p + s * v / r, -2 * q * v / r + s * u / r])

        def end(guesses):
            x, h = numpy.vstack([numpy.outer([1, 0, 1], numpy.ones(len(guesses))), numpy.array(guesses).T]), stop / steps
            for k in range(steps):
                t = k * h
                a = rates(t, x)
                b = rates(t + h / 2, x + h / 2 * a)
                c = rates(t + h / 2, x + h / 2 * b)
                x = x + h / 6 * (a + 2 * b + 2 * c + rates(t + h, x + h * c))
            return x[0], numpy.array([x[1], x[2] - x[0]**-0.5, x[3] + 1 - x[5] / 2 * x[0]**-1.5])

        guess = numpy.array([run["adjoint_r"][0], run["adjoint_u"][0], run["adjoint_v"][0]]).round(2)
        for _ in range(5):
            steps_of = 1e-6 * numpy.eye(3)
            radius, miss = end([guess, *(guess + steps_of), *(guess - steps_of)])
            guess = guess - numpy.linalg.solve((miss[:, 1:4] - miss[:, 4:]) / 2e-6, miss[:, 0])
        self.assertLess(abs(miss[:, 0]).max(), 1e-9)
        self.assertAlmostEqual(run["r"][-1], radius[0], delta=1e-7)

    def test_catenary(self):
        """y = a cosh((x - 1/2)/a) - l with 2 a sinh(1/(2 a)) = 2."""
        low, high = 0.05, 1
        for _ in range(100):
            a = (low + high) / 2
            low, high = (a, high) if a * math.sinh(1 / (2 * a)) > 1 else (low, a)
        found, run = self.example("catenary")
        self.assertAlmostEqual(found["slope"], -math.sinh(1 / (2 * a)), delta=1e-7)
        for t, y in zip(run["time"], run["y"]):
            self.assertAlmostEqual(y, 1 + a * math.cosh((t - 0.5) / a) - a * math.cosh(0.5 / a), delta=1e-7)

    def test_integral_of_a_coordinate(self):
        """The integrand is a coordinate, which the equation of the integral does not define. Then x'' = lambda, and the
        solution is the parabola 6 t (1 - t)."""
        _, run = self.good("model M\n  Real x(start = 0, fixed = true);\nlagrangian\n  der(x)^2/2;\nconstraint\n  integral(x) = 1;\nfinal equation\n  x = 0;\n"
                           "  annotation(experiment(StopTime = 1, Tolerance = 1e-9));\nend M;\n")
        for t, x in zip(run["time"], run["x"]):
            self.assertAlmostEqual(x, 6 * t * (1 - t), delta=1e-7)

    def test_constraints_on_states(self):
        """Variables that no end condition fixes move along the constraints, written and hidden. Members: a point on a circle; a pendulum without weight that ends at rest or not, given by
        one of its coordinates; two states with a given sum. With the angle as the coordinate, the cost is 6 from
        rest to rest over the angle 1, and 1.5 with a free end."""
        circle = ("x(start = 1), y(start = 0, fixed = true), u(start = 0), v(start = 1)", "der(x) = u; der(y) = v; x^2 + y^2 = 1; der(J) = (u^2 + v^2)/2;", "(u^2 + v^2)/2")
        total = ("x(start = 0, fixed = true), y(start = 0), u, v", "der(x) = u; der(y) = v; x + y = time^2; der(J) = (u^2 + v^2)/2;", "(u^2 + v^2)/2")
        pendulum = ("x(start = 0, fixed = true), y(start = -1), vx(start = 0, fixed = true), vy, l, u, adjoint_x(start = -12), adjoint_vx(start = -6)",
                    "der(x) = vx; der(y) = vy; der(vx) = -l*x - u*y; der(vy) = u*x - l*y; x^2 + y^2 = 1; der(J) = u^2/2;", "u^2/2")
        for (declared, equations, goal), final, value in (
                (circle, "y = sin(1);", 0.5), (total, "", 1 / 3), (pendulum, "x = sin(1); vx = 0;", 6), (pendulum, "x = sin(1);", 1.5), (pendulum, "y = -cos(1);", 1.5),
                (pendulum, "y = -cos(1); vy = 0;", 6), (pendulum, "x = sin(1); y = -cos(1); vx = 0; vy = 0;", 6)):
            with self.subTest(equations=equations, final=final):
                _, run = self.good(f"model M\n  Real {declared}, J(start = 0, fixed = true);\nequation\n  {equations}\nminimize\n  integral({goal});\n"
                                   f"{'final equation ' + final if final else ''}\n  annotation(experiment(StopTime = 1, Tolerance = 1e-9));\nend M;\n")
                self.assertAlmostEqual(run["J"][-1], value, delta=1e-6)

    def test_without_guesses(self):
        """Without guesses: a quantity that a separate equation gives as an integral, whose adjoint is not 0; pendulums of index 3 in first and second order; angles and multipliers that
        adjoints of zero do not determine. The pendulums begin at x = 0, so that the values decide which adjoints are free. The pendulum's cost is computed from the angle by Runge
        and Kutta's method; Rayleigh's cost was published by Maurer and Augustin (2001)."""
        def swing(guess, steps=400):
            h = 1 / steps

            def rates(x):
                return numpy.array([x[1], -9.81 * numpy.sin(x[0]) - x[3], 9.81 * x[3] * numpy.cos(x[0]), -x[2], x[3] ** 2 / 2])

            x = numpy.array([0, 0, *guess, 0.0])
            for _ in range(steps):
                a = rates(x)
                b = rates(x + h / 2 * a)
                c = rates(x + h / 2 * b)
                x = x + h / 6 * (a + 2 * b + 2 * c + rates(x + h * c))
            return x

        adjoints = solve(lambda p, q: tuple(swing((p, q))[:2] - numpy.array([1, 0])), (18, -1))
        cost, cost_declared = swing(adjoints)[4], "J(start = 0, fixed = true)"
        slide = numpy.polynomial.legendre.leggauss(40)
        length = sum(w / 2 * math.sqrt(1 + (1.5 + s / 2) ** -4) for s, w in zip(*slide))
        low, high = 0.5000001, 10
        for _ in range(100):
            radius = (low + high) / 2
            low, high = (low, radius) if 2 * radius * math.asin(1 / (2 * radius)) < 1.3 else (radius, high)
        angle = 2.4
        for _ in range(50):
            angle -= (1 - math.cos(angle) - angle + math.sin(angle)) / (math.sin(angle) - 1 + math.cos(angle))
        first = "der(x) = vx; der(y) = vy; der(vx) = -l*x - u*y; der(vy) = u*x - l*y - 9.81; x^2 + y^2 = 1; der(J) = u^2/2;"
        second = "der(der(x)) = -l*x - u*y; der(der(y)) = u*x - l*y - 9.81; x^2 + y^2 = 1; der(J) = u^2/2;"
        origin = "x(start = 0, fixed = true), y(start = {0}), {1}, u, {2}"
        rayleigh = f"x(start = -5, fixed = true), y(start = -5, fixed = true), u, {cost_declared}"
        for name, value, delta, declared, sections, stop in (
                ("J", cost, 1e-6, origin.format(-1, "vx(start = 0, fixed = true), vy, l", cost_declared),
                 f"equation {first} minimize J; final equation x = sin(1); vx = 0;", 1),
                ("J", cost, 1e-6, origin.format(-1, "l", cost_declared),
                 f"initial equation der(x) = 0; equation {second} minimize J; final equation x = sin(1); der(x) = 0;", 1),
                ("J", 29.3761, 5e-5, rayleigh, "equation der(x) = y; der(y) = -x + y*(1.4 - 0.14*y^2) + 4*u; der(J) = u^2 + x^2; minimize J;", 2.5),
                ("J", length ** 2 / 2, 1e-7, f"x(start = 1, fixed = true), y(start = 1), u, v, {cost_declared}",
                 "equation der(x) = u; der(y) = v; x*y = 1; der(J) = (u^2 + v^2)/2; minimize J; final equation x = 2;", 1),
                ("time", angle * math.sqrt(1 / (1 - math.cos(angle)) / 9.81), 1e-7, "x(start = 0, fixed = true), y(start = 0, fixed = true), v(start = 0, fixed = true), a",
                 "equation der(x) = v*sin(a); der(y) = v*cos(a); der(v) = 9.81*cos(a); minimize T; final equation time = T; x = 1; y = 1;", None),
                ("lambda_1", radius, 1e-7, "x(start = 0, fixed = true)",
                 "lagrangian x; constraint integral(sqrt(1 + der(x)^2)) = 1.3; final equation x = 0;", 1)):
            free = "" if stop else "parameter Real T(start = 1.5, fixed = false, min = 0.1);\n  "
            with self.subTest(sections=sections):
                _, columns = self.good(f"model M\n  {free}Real {declared};\n{sections}\n"
                                       f"  annotation(experiment(StopTime = {stop or 1}, Tolerance = 1e-9));\nend M;\n")
                self.assertAlmostEqual(columns[name][-1], value, delta=delta)

    def test_least_time_without_guesses(self):
        """The double integrator from any state to rest at 0, with the guess 1 for the time and no other guess. The solution is full force until the parabola to the end is reached, then the
        opposite force."""
        pick = random.Random(int(os.environ.get("SEED", 4)))
        for _ in range(int(os.environ.get("MEMBERS", 12))):
            x, v = pick.uniform(-3, 3), pick.uniform(-3, 3)
            side = 1 if x + v * abs(v) / 2 > 0 else -1
            least = side * v + 2 * math.sqrt(v * v / 2 + side * x)
            code, _, columns, words = run(f"model M\n  parameter Real T(start = 1, fixed = false, min = 0.01);\n  Real x(start = {x}, fixed = true), v(start = {v}, fixed = true), u(min = -1, max = 1);\n"
                                          "equation\n  der(x) = v; der(v) = u;\nminimize T;\nfinal equation\n  time = T; x = 0; v = 0;\n  annotation(experiment(Tolerance = 1e-9));\nend M;\n")
            self.assertEqual(code, 0, words)
            self.assertAlmostEqual(columns["time"][-1], least, delta=1e-6, msg=f"x = {x}, v = {v}")

    def test_second_order(self):
        """der(der(x)) = u determines the rate of x, not u."""
        _, run = self.good("model M\n  Real x(start = 0, fixed = true), u, J(start = 0, fixed = true);\ninitial equation\n  der(x) = 0;\nequation\n  der(der(x)) = u;\n"
                           "  der(J) = u^2/2;\nminimize\n  integral(u^2/2);\nfinal equation\n  x = 1;\n  der(x) = 0;\n"
                           "  annotation(experiment(StopTime = 1, Tolerance = 1e-9));\nend M;\n")
        self.assertAlmostEqual(run["J"][-1], 6, delta=1e-7)

    def test_linear_quadratic(self):
        """Two states, one control, terminal cost: the adjoint at the start is P x with P by Riccati's equation (RK4)."""
        for seed in range(6):
            rng = random.Random(seed)
            a = [[rng.uniform(-1, 1) for _ in range(2)] for _ in range(2)]
            b, q, s, r = [rng.uniform(0.5, 1.5) for _ in range(2)], rng.uniform(0.5, 2), rng.uniform(0, 2), rng.uniform(0.5, 2)

            def rate(p):
                """-P' = A'P + P A - P b b' P / r + q I"""
                g = [p[0][0] * b[0] + p[0][1] * b[1], p[1][0] * b[0] + p[1][1] * b[1]]
                return [[sum(a[k][i] * p[k][j] + p[i][k] * a[k][j] for k in range(2)) - g[i] * g[j] / r + (q if i == j else 0)
                         for j in range(2)] for i in range(2)]

            def move(p, d, h):
                return [[p[i][j] + h * d[i][j] for j in range(2)] for i in range(2)]

            p, h = [[s, 0], [0, s]], 1.5 / 3000
            for _ in range(3000):
                k1 = rate(p)
                k2 = rate(move(p, k1, h / 2))
                k3 = rate(move(p, k2, h / 2))
                k4 = rate(move(p, k3, h))
                p = [[p[i][j] + h / 6 * (k1[i][j] + 2 * k2[i][j] + 2 * k3[i][j] + k4[i][j]) for j in range(2)] for i in range(2)]
            text = f"""model Regulator
  Real x(start = 1, fixed = true), y(start = -0.5, fixed = true), u;
equation
  der(x) = ({a[0][0]})*x + ({a[0][1]})*y + {b[0]}*u;
  der(y) = ({a[1][0]})*x + ({a[1][1]})*y + {b[1]}*u;
minimize
  integral({q}/2*(x^2 + y^2) + {r}/2*u^2);
  {s}/2*(x^2 + y^2);
  annotation(experiment(StopTime = 1.5, Tolerance = 1e-9));
end Regulator;
"""
            found, _ = self.good(text)
            for k, name in enumerate(("adjoint_x", "adjoint_y")):
                self.assertAlmostEqual(found[name], p[k][0] - 0.5 * p[k][1], delta=1e-6, msg=text)

    def test_worst_instead_of_best(self):
        """Dido's arc from start values that lead to the largest or to the smallest area: the smallest comes with a warning."""
        best = None
        for sign in (1, -1):
            for length in (1.1, 1.2, 1.35):
                run = simulate("model M\n  Real x(start=0, fixed=true), L(start=0, fixed=true), A(start=0, fixed=true), u;\n"
                               f"  Real adjoint_L(start={0.5 * sign}), adjoint_x(start={-0.3 * sign});\n"
                               "equation\n  der(x) = u; der(L) = sqrt(1 + u^2); der(A) = x;\nmaximize\n  A;\n"
                               f"final equation\n  x = 0; L = {length};\nend M;\n")
                self.assertEqual(run.status, 0, run.words)
                self.assertEqual("d2H/du2 < 0" in run.words, run.end("A") < 0, (sign, length, run.words))
                best = max(best or run.end("A"), run.end("A"))
        self.assertGreater(best, 0)

    def test_worst_of_several(self):
        """Two controls with the cost u^2/2 + k u v + v^2/2: a saddle if |k| > 1, though each is best by itself. One control with
        bounds, where the solution of dH/du = 0 is best or worst."""
        for k in (0.3, -0.9, 1.2, -3):
            for order in ("u, v", "v, u"):
                run = simulate(f"model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true), {order};\nequation\n  der(x) = u; der(y) = x + v;\n"
                               f"minimize\n  integral(u^2/2 + {k}*u*v + v^2/2);\nfinal equation\n  x = 0; y = 1;\nend M;\n")
                self.assertEqual(run.status, 0, run.words)
                self.assertEqual("gives the worst value instead of the best" in run.words, abs(k) > 1, (k, order, run.words))
        for sign in (1, -1):
            run = simulate("model M\n  Real x(start = 0, fixed = true), u(min = -3, max = 3);\nequation\n  der(x) = u;\n"
                           f"minimize\n  integral({sign}*u^2/2);\nfinal equation\n  x = 1;\nend M;\n")
            self.assertEqual(run.status, 0, run.words)
            self.assertEqual("d2H/du2 < 0" in run.words, sign < 0, run.words)

    def test_conditions_are_met(self):
        """If errors grow in a run, shooting from good guesses violates the conditions: more segments are used, or no solution is reported. The end of Jackson's problem, smoothed."""
        text = ("model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true), p(start = 0.95011148), q(start = 0.8957737), u, S;\nequation\n"
                "  der(x) = u*(10*y - x); der(y) = u*(x - 10*y) - (1 - u)*y; der(p) = u*(p - q); der(q) = -10*u*(p - q) + (1 - u)*q;\n"
                "  S = (p - q)*(10*y - x) + q*y; u = 0.5 - 0.25*S/sqrt(S^2/4 + 1e-6);\nfinal equation\n  p = 1; q = 1;\n"
                "  annotation(experiment(StopTime = 1, Tolerance = 1e-8));\nend M;\n")
        for options in ((), ("--segments", 1), ("--segments", 4)):
            code, report, columns, words = run(text, *options)
            self.assertEqual(code, 6 if 1 in options else 0, words)
            if code == 0:
                self.assertLess(max(abs(columns["p"][-1] - 1), abs(columns["q"][-1] - 1)), 1e-4, options)

    def test_closed_forms(self):
        """Least energy, Mayer and Bolza, two controls, an integral constraint, a line at the end, free final time, least fuel, two switches, Zermelo's problem in a shear flow, Dido's arc, least time with drag."""
        def bisect(function, low, high):
            for _ in range(200):
                middle = (low + high) / 2
                low, high = (low, middle) if function(middle) > 0 else (middle, high)
            return low

        def zermelo(slope, final, steps=2000):
            """The tangent of the heading falls at the rate of the shear."""
            x, y, h = 0, 0, final / steps
            for k in range(steps):
                heading = [math.atan(slope - (k + part) * h / 2) for part in (0, 0.5, 1)]
                s = [math.sin(each) for each in heading]
                c = [math.cos(each) for each in heading]
                middle = y + h / 24 * (5 * s[0] + 8 * s[1] - s[2])
                last = y + h / 6 * (s[0] + 4 * s[1] + s[2])
                x += h / 6 * (c[0] + 4 * c[1] + c[2] + (y + 4 * middle + last) / 2)
                y = last
            return x - 1, y - 1

        def halves(first, last):
            """A mass on a spring with the forces -1, 1, -1, the second for half a period."""
            x, v = 3, 0
            for t, u in ((first, -1), (math.pi, 1), (last, -1)):
                x, v = u + (x - u) * math.cos(t) + v * math.sin(t), v * math.cos(t) - (x - u) * math.sin(t)
            return x, v

        first, last = solve(halves, (0.3, 1.4))
        swing = first + math.pi + last
        brake = bisect(lambda t: t - math.log(2 - math.exp(-t)) - 1, 0.1, 5)
        radius = bisect(lambda r: 1.2 - 2 * r * math.asin(1 / (2 * r)), 0.5000001, 10)
        angle = math.asin(1 / (2 * radius))
        free = "parameter Real T(start = 1.5, fixed = false, min = 0.1);\n  "
        for name, value, declared, equations, goal, final, stop in (
                ("J", 6, "x(start = 0, fixed = true), v(start = 0, fixed = true), J(start = 0, fixed = true), u", "der(x) = v; der(v) = u; der(J) = u^2/2;",
                 "minimize J", "x = 1; v = 0;", 1),
                ("J", 1 / math.pi, "x(start = 1, fixed = true), v(start = 0, fixed = true), J(start = 0, fixed = true), u",
                 "der(x) = v; der(v) = u - x; der(J) = u^2/2;", "minimize J", "x = 0; v = 0;", math.pi),
                ("x", 1 / 7, "x(start = 1, fixed = true), u", "der(x) = u;", "minimize integral(u^2/2); 1.5*x^2", "", 2),
                ("x", 1 / math.cosh(1), "x(start = 1, fixed = true), u", "der(x) = u;", "minimize integral(x^2/2 + u^2/2)", "", 1),
                ("time", 1 / math.sqrt(2), "x(start = 0, fixed = true), J(start = 0, fixed = true), u(start = 1)", "der(x) = u; der(J) = 1 + u^2/2;", "minimize J",
                 "time = T; x = 1;", None),
                ("time", solve(zermelo, (1.2, 1.2))[1],
                 "x(start = 0, fixed = true), y(start = 0, fixed = true), a(start = 0.8), adjoint_x(start = -0.7), adjoint_y(start = -0.7)",
                 "der(x) = cos(a) + y/2; der(y) = sin(a);", "minimize T", "time = T; x = 1; y = 1;", None),
                ("A", radius ** 2 * (angle - math.sin(angle) * math.cos(angle)),
                 "x(start = 0, fixed = true), L(start = 0, fixed = true), A(start = 0, fixed = true), u(start = 0.5), adjoint_L(start = 0.5), adjoint_x(start = -0.3)",
                 "der(x) = u; der(L) = sqrt(1 + u^2); der(A) = x;", "maximize A", "x = 0; L = 1.2;", 1),
                ("J", 1 / 3, "x(start = 1, fixed = true), y(start = 0, fixed = true), J(start = 0, fixed = true), u, v",
                 "der(x) = y + u; der(y) = -x + v; der(J) = (u^2 + v^2)/2;", "minimize J", "x = 0; y = 0;", 1.5),
                ("J", 6, "x(start = 0, fixed = true), w(start = 0, fixed = true), J(start = 0, fixed = true), u", "der(x) = u; der(w) = x; der(J) = u^2/2;",
                 "minimize J", "x = 0; w = 1;", 1),
                ("J", 1, "x(start = 0, fixed = true), y(start = 0, fixed = true), J(start = 0, fixed = true), u, v",
                 "der(x) = u; der(y) = v; der(J) = (u^2 + v^2)/2;", "minimize J", "x + y = 2;", 1),
                ("x", (1 - math.exp(-2)) / 2, "x(start = 0, fixed = true), u(min = 0, max = 1)", "der(x) = u - x;", "maximize x; integral(-u^2/2)", "", 1),
                ("time", 18 ** 0.25, "x(start = 0, fixed = true), v(start = 0, fixed = true), J(start = 0, fixed = true), u", "der(x) = v; der(v) = u; der(J) = 1 + u^2/2;",
                 "minimize J", "time = T; x = 1; v = 0;", None),
                ("J", 3 - math.sqrt(5), "x(start = 0, fixed = true), v(start = 0, fixed = true), J(start = 0, fixed = true), p(min = 0, max = 1), q(min = 0, max = 1), "
                 "adjoint_x(start = -1), adjoint_v(start = -1.4)", "der(x) = v; der(v) = p - q; der(J) = p + q;", "minimize J", "x = 1; v = 0;", 3),
                ("time", swing, "x(start = 3, fixed = true), v(start = 0, fixed = true), u(min = -1, max = 1), adjoint_x(start = 0.5), adjoint_v(start = 0.5)",
                 "der(x) = v; der(v) = u - x;", "minimize T", "time = T; x = 0; v = 0;", None),
                ("time", math.acosh(1.5), "x(start = 0, fixed = true), y(start = 1, fixed = true), a(start = 0.5), adjoint_x(start = -0.7), adjoint_y(start = -0.3)",
                 "der(x) = y*cos(a); der(y) = y*sin(a);", "minimize T", "time = T; x = 1; y = 1;", None),
                ("time", brake + math.log(2 - math.exp(-brake)), "x(start = 0, fixed = true), v(start = 0, fixed = true), u(min = -1, max = 1)",
                 "der(x) = v; der(v) = u - v;", "minimize T", "time = T; x = 1; v = 0;", None)):
            text = (f"model M\n  {'' if stop else free}Real {declared};\nequation\n  {equations}\n{goal};\n"
                    f"{'final equation ' + final if final else ''}\n  annotation(experiment(StopTime = {stop or 1}, Tolerance = 1e-9));\nend M;\n")
            with self.subTest(text=text):
                _, columns = self.good(text)
                self.assertAlmostEqual(columns[name][-1], value, delta=1e-7)

    def arcs(self, model, *options):
        code, report, columns, words = run(model, *options)
        self.assertEqual(code, 0, words)
        arcs = report["boundary"]["arcs"]
        for arc in arcs:
            if arc["kind"] == "singular":
                self.assertEqual(arc["order"], 1)
                self.assertGreater(arc["legendre"], 0)
        return arcs, columns

    def assertArcs(self, arcs, *expected, delta=1e-7):
        """Kinds of arcs and the times at which the arcs end, except for the last."""
        self.assertEqual([arc["kind"] for arc in arcs], [kind for kind, _ in expected])
        for arc, (_, end) in list(zip(arcs, expected))[:-1]:
            self.assertAlmostEqual(arc["to"], end, delta=delta)

    def test_work_of_shots(self):
        """Shots count against the limit of work: the message names it, and the option. Runs that diverge are stopped, so that a chain of length 2 over a gap of 0.1 is found; there a sinh(0.05/a) = 1."""
        code, _, _, words = run(EXAMPLES / "goddard.mo", "--limits", "work=20M")
        self.assertEqual(code, 3, words)
        self.assertIn("the search for the solution of the boundary value problem: more than 20M steps of work; --limits work=40M allows more [D313]", words)
        code, report, columns, words = run(EXAMPLES / "catenary.mo", "--stop-time", "0.1")
        self.assertEqual(code, 0, words)
        slope = abs(columns["slope"][0])
        self.assertAlmostEqual(math.asinh(slope) / slope, 0.05, delta=1e-8)

    def test_work_of_singular_shots(self):
        """A brachistochrone from rest, without guesses: trial runs are singular at their start. A run that jumps over this point jumps only once, and the evaluations of runs count as work."""
        rest = "Real x(start = 0, fixed = true), y(start = 0, fixed = true), v(start = 0, fixed = true), a;"
        code, _, _, words = run(f"""model Slide
  parameter Real T(start = 1, fixed = false, min = 0.01);
  {rest}
equation
  der(x) = v*sin(a);
  der(y) = v*cos(a);
  der(v) = 9.81*cos(a);
minimize T;
final equation
  time = T;
  x = 3.78930759061776;
  y = 1.6805843925987765;
end Slide;
""", "--tolerance", "1e-9", "--limits", "work=100M")
        self.assertIn(code, (0, 3), words)
        if code == 3:
            self.assertIn("the search for the solution of the boundary value problem: more than 100M steps of work", words)

    def test_goddard(self):
        """Needs only the bounds of the thrust. The altitude of Bryson's rocket is 1.01283 (COPS 3.0, problem 10). The times come from a model written by hand: it has the arcs and, on the
        second one, the surface D*(1 + v/c) = m*g."""
        written = """model Written
  parameter Real c = 0.5, k = 310, H = 500;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), m(start = 1, fixed = true), u, D;
  Integer arc(start = 1, fixed = true);
  discrete Real change[2](each start = 0, each fixed = true);
equation
  der(h) = v;
  der(v) = (u - D)/m - 1/h^2;
  der(m) = -u/c;
  D = k*v^2*exp(-H*(h - 1));
  if arc == 1 then
    u = 3.5;
  elseif arc == 2 then
    D*(1 + v/c) = m/h^2;
  else
    u = 0;
  end if;
  when D*(1 + v/c) > m/h^2 then
    arc = 2;
    change[1] = time;
    change[2] = pre(change[2]);
  elsewhen m < 0.6 then
    arc = 3;
    change[1] = pre(change[1]);
    change[2] = time;
  end when;
  when v < 0 then
    terminate("at the top");
  end when;
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end Written;
"""
        code, _, by_hand, said = run(written)
        self.assertEqual(code, 0, said)
        arcs, columns = self.arcs(EXAMPLES / "goddard.mo")
        self.assertArcs(arcs, ("max", max(by_hand["change[1]"])), ("singular", max(by_hand["change[2]"])), ("min", None), delta=1e-6)
        self.assertAlmostEqual(columns["h"][-1], by_hand["h"][-1], delta=1e-8)
        self.assertAlmostEqual(columns["h"][-1], 1.0128369, delta=5e-8)

    def singular(self, declarations, equations, goal, stop):
        return self.arcs(f"""model Singular
  Real {declarations};
equation
  {equations}
{goal};
  annotation(experiment(StopTime = {stop}, Tolerance = 1e-9));
end Singular;
""")

    def test_singular_arcs(self):
        """On a singular arc the switching function stays zero: closed forms."""
        arcs, run = self.singular("x(start = 1, fixed = true), u(min = -1, max = 1)", "der(x) = u;", "minimize\n  integral(x^2/2)", 2)
        self.assertArcs(arcs, ("min", 1), ("singular", None))
        self.assertLess(max(abs(u) for t, u in zip(run["time"], run["u"]) if t > 1 + 1e-6), 1e-7)
        arcs, run = self.singular("x(start = 0, fixed = true), y(start = 1, fixed = true), J(start = 0, fixed = true), u(min = -1, max = 1)",
                                  "der(x) = y;\n  der(y) = u;\n  der(J) = (y^2 - x^2)/2;", "minimize\n  J", math.pi / 2)
        self.assertArcs(arcs, ("singular", None))
        self.assertLess(max(abs(u + math.sin(t)) for t, u in zip(run["time"], run["u"])), 1e-6)

    def test_harvest(self):
        """Fish at the most profitable stock, 0.6, then everything that pays: 1/x = 1/0.6 + t down to 0.36."""
        arcs, run = self.singular("x(start = 0.4, fixed = true), J(start = 0, fixed = true), u(min = 0, max = 1)",
                                  "der(x) = x*(1 - x) - u*x;\n  der(J) = (x - 0.2)*u;", "maximize\n  J", 10)
        self.assertArcs(arcs, ("min", math.log(2.25)), ("singular", 10 - (1 / 0.36 - 1 / 0.6)), ("max", None))
        self.assertAlmostEqual(run["x"][-1], 0.36, delta=1e-7)

    def test_two_switches(self):
        """Van der Pol's oscillator: the singular control of the first solution leaves its bounds, and an arc at the bound is
        inserted. The cost is 0.7576 in Vossen (2010)."""
        arcs, run = self.singular("x(start = 0, fixed = true), y(start = 1, fixed = true), J(start = 0, fixed = true), u(min = -1, max = 1)",
                                  "der(x) = y;\n  der(y) = -x + y*(1 - x^2) + u;\n  der(J) = (x^2 + y^2)/2;", "minimize\n  J", 4)
        self.assertEqual([arc["kind"] for arc in arcs], ["min", "max", "singular"])
        self.assertEqual(f"{run['J'][-1]:.4f}", "0.7576")
        self.assertLess(max(run["u"]), 1 + 1e-6)

    def test_chattering(self):
        """Fuller's problem, plain and with friction and a spring, has infinitely many switches before its singular arc of order 2: it is refused by name and order."""
        for rate in ("u", "u - 0.3*y - 0.2*x"):
            code, _, _, said = run(f"""model Fuller
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), u(min = -1, max = 1);
equation
  der(x) = y;
  der(y) = {rate};
minimize
  integral(x^2/2);
  annotation(experiment(StopTime = 5));
end Fuller;
""")
            self.assertEqual(code, 6, rate)
            self.assertIn("control `u` has a singular arc of order 2 near time", said)
            self.assertIn("infinitely often", said)

    def test_refused(self):
        text = (EXAMPLES / "double_integrator.mo").read_text()
        for change, words in ((("u(min = -1, max = 1)", "u(min = -1)"), "it needs both bounds"),
                              (("der(v) = u;", "der(v) = u;\n  u = 1;"), "no control"),
                              (("der(v) = u;", "der(v) = u*T;"), "write it as a variable with der(T) = 0"),
                              (("minimize", "lagrangian\n  v^2;\nminimize"), "not with a Lagrangian")):
            code, _, _, said = run(text.replace(*change), command="check")
            self.assertEqual(code, 3, said)
            self.assertIn(words, said)
        code, _, _, said = run(EXAMPLES / "regulator.mo", "--strict", command="check")
        self.assertEqual(code, 3)


if __name__ == "__main__":
    unittest.main()
