"""Small models of the parts of hybrid component libraries: step networks, extrema, friction, gears."""
import csv
import math
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()


def rows(text, *arguments):
    """The rows of a run as dictionaries."""
    source, target = os.path.join(WORK, "m.mo"), os.path.join(WORK, "m.csv")
    with open(source, "w") as file:
        file.write(text)
    run = subprocess.run([DAEDAL, "simulate", source, "--output-file", target, *arguments],
                         capture_output=True, text=True)
    if run.returncode:
        raise AssertionError(f"exit status {run.returncode}\n{run.stderr}\n{text}")
    with open(target) as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def token_ring(rng):
    """Places, the first of which has the token; the token moves on after `wait`. The initial equations give each pre() once, in any
    order and either way around."""
    count, wait, active = rng.randint(2, 5), rng.uniform(0.3, 1), rng.randrange(2)
    declared, initial, equations = [], [], []
    for k in range(count):
        before = (k - 1) % count
        declared.append(f"Boolean a{k}, l{k}, n{k}, o{k}, e{k}, f{k}; discrete Real s{k};")
        pair = [f"pre(n{k})", f"pre(l{k})"]
        rng.shuffle(pair)
        value = "true" if k == 0 else "false"
        initial += [f"a{k} = {value};" if active else f"{value} = a{k};", f"{pair[0]} = {pair[1]};",
                    f"pre(o{k}) = pre(l{k});", f"pre(s{k}) = time;", f"pre(e{k}) = false;"]
        equations += [f"a{k} = l{k};", f"l{k} = pre(n{k});", f"n{k} = f{before} or l{k} and not f{k};",
                      f"e{k} = l{k} and not l{(k + 1) % count};", f"f{k} = e{k} and time >= s{k} + {wait};",
                      f"when e{k} then s{k} = time; end when;", f"when f{k} then o{k} = l{k}; end when;"]
    rng.shuffle(initial)
    text = "model M\n  {}\ninitial equation\n  {}\nequation\n  {}\nend M;\n".format(
        "\n  ".join(declared), "\n  ".join(initial), "\n  ".join(equations))
    return text, count, wait


class InitialEquations(unittest.TestCase):
    def test_each_gives_one_pre(self):
        rng = random.Random(1)
        for _ in range(20):
            text, count, wait = token_ring(rng)
            for row in rows(text, "--stop-time", "4", "--intervals", "37"):
                place = row["time"] / wait
                if abs(place - round(place)) < 1e-9:
                    continue
                holds = [k for k in range(count) if row[f"a{k}"]]
                self.assertEqual(holds, [int(place) % count], text)

    def test_of_a_variable(self):
        rng = random.Random(2)
        for _ in range(10):
            start = rng.uniform(-2, 2)
            sides = ["d", "x"]
            rng.shuffle(sides)
            given = f"x = {start};"
            equations = [given, f"{sides[0]} = {sides[1]};"]
            rng.shuffle(equations)
            text = ("model M\n  Real x; discrete Real d;\ninitial equation\n  {}\nequation\n  der(x) = 1;\n"
                    "  when time >= 0.5 then d = 2*pre(d) + 1; end when;\nend M;\n").format(" ".join(equations))
            found = rows(text, "--stop-time", "1", "--intervals", "4")
            self.assertAlmostEqual(found[0]["d"], start, 12)
            self.assertAlmostEqual(found[-1]["d"], 2 * start + 1, 12)


def friction(name, normal, sliding, sticking):
    """An element between v and 0 with Coulomb friction, parametrized by s along its characteristic."""
    n = name
    declared = (f"Real s{n}, f{n}, a{n}, v{n}; Boolean forward{n}(start=false, fixed=true), backward{n}(start=false, fixed=true), "
                f"locked{n}; Integer mode{n}(start=3, fixed=true);")
    limit, force = sticking * normal, sliding * normal
    equations = f"""
  forward{n} = pre(mode{n}) == 0 and (s{n} > {limit} or pre(forward{n}) and s{n} > {force}) or initial() and v{n} > 0;
  backward{n} = pre(mode{n}) == 0 and (s{n} < -{limit} or pre(backward{n}) and s{n} < -{force}) or initial() and v{n} < 0;
  locked{n} = not (pre(mode{n}) == 1 or forward{n} or pre(mode{n}) == -1 or backward{n});
  a{n} = if locked{n} then 0 else if forward{n} then s{n} - {limit} else if backward{n} then s{n} + {limit}
    else if pre(mode{n}) == 1 then s{n} - {limit} else s{n} + {limit};
  f{n} = if locked{n} then s{n} else if forward{n} or not backward{n} and pre(mode{n}) == 1 then {force} else -{force};
  mode{n} = if (pre(mode{n}) == 1 or forward{n}) and v{n} > 0 then 1
    else if (pre(mode{n}) == -1 or backward{n}) and v{n} < 0 then -1 else 0;"""
    return declared, equations


class Friction(unittest.TestCase):
    def test_gets_stuck_and_slips(self):
        """Masses each slide to rest from either side, stick, and break loose when the force steps up."""
        rng = random.Random(3)
        for _ in range(12):
            declared, equations, expected = "", "", {}
            for k in range(rng.randint(1, 3)):
                mass, force = rng.uniform(0.2, 3), rng.uniform(1, 5)
                sticking, start = rng.uniform(1, 2), rng.choice((-1, 1)) * rng.uniform(0.05, 0.3)
                rest = abs(start) * mass / force
                push = rng.choice((-1, 1)) * force * rng.uniform(0.2, 4)
                step = rest + rng.uniform(0.1, 1)
                parts = friction(f"{k}", 1, force, force * sticking)
                declared += "\n  " + parts[0] + f" Real x{k}(start=0, fixed=true), u{k};"
                equations += parts[1] + f"""
  der(x{k}) = v{k}; der(v{k}) = a{k}; {mass}*a{k} = u{k} - f{k}; u{k} = if time < {step} then 0 else {push};"""
                declared = declared.replace(f"v{k};", f"v{k}(start={start}, fixed=true);")
                loose = abs(push) > force * sticking
                expected[f"v{k}"] = (abs(push) - force) * (push / abs(push)) * (4 - step) / mass if loose else 0
                expected[f"mode{k}"] = (1 if push > 0 else -1) if loose else 0
            text = f"model M{declared}\nequation{equations}\nend M;\n"
            found = rows(text, "--stop-time", "4", "--intervals", "8")
            for name, value in expected.items():
                self.assertAlmostEqual(found[-1][name], value, delta=1e-5 * (1 + abs(value)), msg=f"{name}\n{text}")


class Rows(unittest.TestCase):
    def test_time_never_decreases(self):
        """Motions stopped by a force that fades out near zero, whose sign is lost to the rounding errors of a long step."""
        rng = random.Random(4)
        for _ in range(5):
            edge, rate = rng.uniform(0.05, 1), rng.uniform(5, 100)
            text = (f"model M\n  Real x(start=0, fixed=true), v(start={edge * rng.uniform(10, 100)}, fixed=true), f;\nequation\n"
                    f"  der(x) = v; der(v) = -f;\n"
                    f"  f = {rate * edge}*(if abs(v) >= {edge} then sign(v) else v/{edge});\nend M;\n")
            times = [row["time"] for row in rows(text, "--stop-time", f"{500 / rate}", "--intervals", "3000")]
            self.assertEqual(times, sorted(times), text)


class FreeParameters(unittest.TestCase):
    def test_that_choose_a_branch(self):
        """A parameter given by an initial equation decides on which branch of a square root the solution runs."""
        rng = random.Random(5)
        for _ in range(10):
            start, guess, kind = rng.uniform(0.5, 1), rng.choice((-1, 1)) * rng.uniform(0.3, 1.2), rng.randrange(3)
            declared = ("Boolean p", "Integer p", "Kind p")[kind]
            chosen = ("noEvent(guess > 0)", "if noEvent(guess > 0) then 4 else 2", "if noEvent(guess > 0) then Kind.b else Kind.a")[kind]
            holds = ("p", "p == 4", "p == Kind.b")[kind]
            text = (f"model M\n  type Kind = enumeration(a, b);\n  parameter {declared}(fixed=false); Real x(start={start}, fixed=true), y, guess;\n"
                    f"initial equation\n  p = {chosen};\nequation\n  der(x) = -x; guess = {guess}*x;\n"
                    f"  y = (if {holds} then 1 else -1)*sqrt(x) + guess;\nend M;\n")
            last = rows(text, "--stop-time", "1", "--intervals", "2")[-1]
            x = start * math.exp(-1)
            self.assertAlmostEqual(last["y"], math.copysign(math.sqrt(x), guess) + guess * x, delta=1e-5, msg=text)


class Reinit(unittest.TestCase):
    def test_leaves_what_should_be_states(self):
        """A chain of masses, one of which is stopped. Between some masses the relative velocity should be a state, which then keeps its value; elsewhere the velocities of the masses should
        be states."""
        rng = random.Random(17)
        for count in (2, 3, 5, 7):
            preferred = [rng.random() < 0.5 for _ in range(count - 1)]
            stopped = rng.randrange(count)
            declared = [f"Real s{k}(start = {k}, fixed = true), v{k}(start = {rng.uniform(-1, 1)!r}, fixed = true), f{k};" for k in range(count)]
            equations = [f"der(s{k}) = v{k}; {rng.uniform(1, 3)!r}*der(v{k}) = f{k};" for k in range(count)]
            for k, wanted in enumerate(preferred):
                select = "(stateSelect = StateSelect.prefer)" if wanted else ""
                declared.append(f"Real r{k}{select}, w{k}{select}, c{k};")
                equations.append(f"r{k} = s{k + 1} - s{k}; w{k} = der(r{k}); c{k} = 5*(r{k} - 1) + w{k};")
            ends = ["0"] + [f"c{k}" for k in range(count - 1)] + ["0"]
            equations += [f"f{k} = {ends[k + 1]} - {ends[k]};" for k in range(count)]
            text = "model M\n  {}\nequation\n  {}\n  when time >= 0.5 then\n    reinit(v{}, 0);\n  end when;\nend M;\n".format(
                "\n  ".join(declared), "\n  ".join(equations), stopped)
            found = rows(text, "--stop-time", "1", "--tolerance", "1e-9")
            before, after = [row for row in found if row["time"] == 0.5][:1][0], [row for row in found if row["time"] == 0.5][-1]
            self.assertAlmostEqual(after[f"v{stopped}"], 0, delta=1e-9)
            jump = {stopped: -before[f"v{stopped}"]}
            for k in range(stopped, count - 1):  # preferred differences pass the jump on
                jump[k + 1] = jump[k] if preferred[k] else 0
            for k in range(stopped, 0, -1):
                jump[k - 1] = jump[k] if preferred[k - 1] else 0
            for k in range(count):
                self.assertAlmostEqual(after[f"v{k}"] - before[f"v{k}"], jump[k], delta=1e-7, msg=text)


class UnrolledLoops(unittest.TestCase):
    """A Base Modelica file with the unrolled iterations of a loop, including the `break` that left it."""

    def test_break_ends_all_iterations(self):
        rng = random.Random(16)
        for count in (2, 3, 5, 12):
            limit, factor = rng.randint(1, 9), rng.randint(1, 4)
            body = ("if d + {i} > %d then\n  if mod(d, 3) == 1 then\n    break;\n  else\n    {n} := {i};\n  end if;\n"
                    "else\n  {n} := d + {k};\nend if;\n" % limit)
            bodies = [body.format(i=f"e[{i}]", n=f"'n[{i}]'", k=f"e[{i}]") for i in range(1, count + 1)]
            values = ", ".join(str(i) for i in range(1, count + 1))
            names = "".join(f"Integer 'n[{i}]'(start = 0, fixed = true);\n" for i in range(1, count + 1))
            total = " + ".join(f"'n[{i}]'" for i in range(1, count + 1))
            head = f"{names}Integer d, m;\nconstant Integer e[{count}] = {{{values}}};\nalgorithm\nd := integer({factor}*time);\n"
            tail = f"m := {total};\nannotation(experiment(StopTime = 5));\n"
            flat = f"//! base 0.1.0\npackage 'M'\nmodel 'M'\n{head}{''.join(bodies)}{tail}end 'M';\nend 'M';\n"
            looped = f"model M\n{head}while true loop\n{''.join(bodies)}break;\nend while;\n{tail}end M;\n"
            self.assertEqual(rows(flat), rows(looped), flat)


class RandomNumbers(unittest.TestCase):
    def test_are_drawn_once_an_event(self):
        """However often an event iterates, one when draws the same random numbers as in a model without others."""
        head = ("function draw\n  input Integer id;\n  output Real y;\n  external \"C\" y = ModelicaRandom_impureRandom_xorshift1024star(id);\n"
                "end draw;\n")
        plain = (head + "model M\n  discrete Real a, b;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\n"
                 "  when sample(0.1, 0.1) then\n    a = draw(1);\n    b = draw(2);\n  end when;\nend M;\n")
        for count in (1, 3, 6):
            chain = "".join(f"  c{k} = pre(c{k - 1}) + 1;\n" for k in range(1, count + 1))
            names = ", ".join(f"c{k}(start = {k}, fixed = true)" for k in range(1, count + 1))
            busy = plain.replace("discrete Real a, b;", f"discrete Real a, b;\n  Integer c0, {names};").replace(
                "  der(x)", "  when a > 0.5 then c0 = pre(c0) + 1; end when;\n" + chain + "  der(x)")
            found, expected = rows(busy, "--stop-time", "1"), rows(plain, "--stop-time", "1")
            at = {round(row["time"], 6): (row["a"], row["b"]) for row in expected}
            self.assertEqual({round(row["time"], 6): (row["a"], row["b"]) for row in found}, at)
            drawn = {pair for pair in at.values() if pair != (0, 0)}
            self.assertEqual(len({value for pair in drawn for value in pair}), 20)


class Extrema(unittest.TestCase):
    def test_of_a_fast_filter_do_not_stop_the_run(self):
        """A signal turns where a difference changes its sign; that difference is about as small as the error of its variables. The run must reach its end, and the stored value must belong
        to the signal; its distance from the extremum is not tested."""
        rng = random.Random(6)
        for _ in range(8):
            slow, fast, part = rng.uniform(3, 9), rng.uniform(20, 60), rng.uniform(0.2, 0.9)
            text = (f"model M\n  Real u, x, s(start=0, fixed=true); discrete Real low, high;\ninitial equation\n  x = u; low = u; high = u;\nequation\n"
                    f"  der(s) = cos(5*time); u = sin({slow}*time) + {part}*sin({fast}*time) + s; der(x) = (u - x)/1e-6;\n"
                    f"  when {{u <= x, u >= x}} then low = min(pre(low), u); high = max(pre(high), u); end when;\nend M;\n")
            found = rows(text, "--stop-time", "2", "--intervals", "2000")
            self.assertEqual(found[-1]["time"], 2, text)
            self.assertLessEqual(min(row["u"] for row in found), found[-1]["low"], text)
            self.assertLess(found[-1]["low"], found[-1]["high"], text)
            self.assertLessEqual(found[-1]["high"], max(row["u"] for row in found), text)


if __name__ == "__main__":
    unittest.main()
