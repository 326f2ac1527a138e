"""The text that `daedal reduce` prints, read back and simulated, follows the trajectory of its model.

For every method that applies: examples, seeded models of constraints, free parameters, relations and expressions with
many equal parts, with overridden parameters, inputs and start values, and models of test_round_trip.py.
"""
import csv
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from test_round_trip import Builder

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
MODELS = int(os.environ.get("REDUCE_MODELS", "3"))
METHODS = ("dummy", "minimal", "projection", "baumgarte", "ggl", "ggl1", "underlying", "overdetermined", "none")
EXAMPLES = ("pendulum", "transamp", "water")
LONGEST = 200000  # characters of a text
STRUCTURE = 4  # exit status: the method does not apply

FUNCTIONS = """
  type E = enumeration(slow, fast);
  function rounds input Real x; input Integer n; output Real y; algorithm
    y := x; for i in 1:n loop y := sin(y)*cos(y) + 0.3; end for; end rounds;
  function branching input Real x; input Integer n; output Real y; algorithm
    y := x; for i in 1:n loop if y > 0.5 then y := y*cos(y); else y := sin(y) + y/2; end if; end for; end branching;
"""

PIECES = {
    "pendulum": ("""parameter Real L = 1, g = 9.81; Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), lambda;""",
                 """der(x) = vx; der(y) = vy; der(vx) = -lambda*x + 0.1*rounds(x, {n}) + (if vy > -0.5 then 0 else 0.1*vy); der(vy) = -lambda*y - g;
                    x^2 + y^2 = L^2;""", "", {"L": "{a}", "g": "{b}"}),
    "loop": ("""parameter Real C = 2; Real u1(start = 1, fixed = true), u2, i1, i2;""",
             """C*der(u1) = i1; C*der(u2) = i2; u1 = 2*u2 + 0.1*sin(time); i1 + i2 = -u1 + 0.1*branching(u2, {n});""", "", {"u1": "{a}"}),
    "chain": ("""parameter Real w = 1; Real x0, x1, x2, x3;""",
              """x0 = sin(w*time)*exp(time^2)/(1 + time); x1 = der(x0); x2 = der(x1); x3 = der(x2);""", "", {"w": "{a}"}),
    "free": ("""parameter Real p(start = 1, fixed = false), q = 2*p, k = 3; Real f(start = 1, fixed = true), h;""",
             """der(f) = -p*f*k; h = q*f;""", "h = {b};", {"k": "{a}"}),
    "kinds": ("""parameter Integer m = 2; parameter Boolean b = false; parameter E mode = E.slow; parameter Real s(start = 3), t = m*s;
                 input Real u(start = 1); input Real v = sin(time) + 0.1*z; Real z(start = 0.5, fixed = true);""",
              """der(z) = -m*z + (if b then 1 else 2) + (if mode == E.slow then u else s) + v*t + (if z > 0.9 then 0.1 else 0.2);""", "",
              {"m": "4", "b": "true", "mode": "2", "s": "{a}", "u": "{b}"}),
    "start": ("""Integer first(start = 0, fixed = true), second; Real l(start = 0, fixed = true);""",
              """der(l) = first + second; when {{initial(), l > {b}}} then first = pre(first) + {n}; end when;
                 when sample(0, 0.4) then second = pre(second) + 1; end when;""", "pre(second) = {n};", {"first": "{n}"}),
    "bound": ("""input Integer count = if on then {n} else 1; input Boolean on = time > 0.3; input E gear = if on then E.fast else E.slow;
                 input Real d[2] = {{time, {a}}}; Real o(start = 0, fixed = true);""",
              """der(o) = count + (if on then {b} else 0) + (if gear == E.fast then d[1] else d[2]);""", "", {"o": "{a}"}),
}


def generate(seed):
    """A model of some pieces, and overrides for it."""
    choose = random.Random(seed)
    declarations, equations, initial, overrides = [], [], [], []
    for name in sorted({*choose.sample(sorted(PIECES), choose.randint(2, 4)), "bound", "start"}):
        piece = PIECES[name]
        numbers = {"n": choose.randint(2, 40), "a": f"{choose.uniform(0.5, 2):.3g}", "b": f"{choose.uniform(1, 3):.3g}"}
        declarations.append(piece[0].format(**numbers))
        equations.append(piece[1].format(**numbers))
        initial.append(piece[2].format(**numbers))
        overrides += [f"{key}={value.format(**numbers)}" for key, value in piece[3].items() if choose.random() < 0.6]
    head = "initial equation\n" + "\n".join(initial) if any(initial) else ""
    text = "\n".join(["model M" + FUNCTIONS, *declarations, head, "equation", *equations, "end M;"])
    return text, ["--override", ",".join(overrides)] if overrides else []


def generate_any(seed):
    """A model of any pieces that can be simulated."""
    builder = Builder(seed)
    text = builder.text()
    return generate_any(seed + 1000) if builder.is_hybrid else (text, [])


def run(*arguments):
    done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def rows(path, *options):
    """The trajectory as a list of rows by name; a text if there is none."""
    stop = ("--stop-time", "0.3", "--tolerance", "1e-8", "--intervals", "3")
    code, text, words = run("simulate", path, "--output-file", "-", *stop, *options)
    return words if code else [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def differences(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return [f"not simulated: {(a if isinstance(a, str) else b)[:300]}"]
    return [f"time {p['time']}: {name} is {p[name]} and {q[name]}" for p, q in zip(a, b) for name in p
            if name in q and abs(p[name] - q[name]) > 1e-4*(1 + abs(p[name]))][:3]


def failures_of(path, overrides, folder):
    expected, failures, applied = rows(path, *overrides), [], 0
    for method in METHODS:
        code, text, words = run("reduce", path, "--method", method, "--tolerance", "1e-8", *overrides)
        if code == STRUCTURE:
            continue
        if code:
            failures.append(f"{method}: exit {code} {words}")
            continue
        applied += 1
        reduced = folder / "reduced.mo"
        reduced.write_text(text)
        failures += [f"{method}: {difference}" for difference in differences(expected, rows(reduced))]
        failures += [f"{method}: {len(text)} characters"] * (len(text) > LONGEST)
    return failures + ["no method applies"] * (not applied)


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = [(SOURCE / "examples" / f"{example}.mo", []) for example in EXAMPLES]
        for seed in range(2*MODELS):
            text, overrides = generate_any(seed) if seed % 2 else generate(seed)
            path = folder / f"seed{seed}.mo"
            path.write_text(text)
            cases.append((path, overrides))
        for path, overrides in cases:
            failures = failures_of(path, overrides, folder)
            passed, failed = passed + (not failures), failed + bool(failures)
            for failure in failures:
                print(f"{path.name} {' '.join(overrides)}: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
