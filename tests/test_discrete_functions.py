"""Integer, Boolean and enumeration values of functions cause events in equations of Reals: random pulses, narrower than a step, are
integrated completely."""
import random
import unittest

from runs import by_turns, seeds, simulate

# A pulse from {a} to {b} in u, as code of a function that sets p.
BODIES = {
    "relation": "p := u > {a} and u < {b};",
    "branches": "if u <= {a} then p := false; elseif u < {b} then p := true; else p := false; end if;",
    "nested": "p := inside(u, {a}, {b});",
}
OUTPUTS = {
    "Boolean": ("Boolean y", "y := p;", "(if f({u}) then 1 else 0)"),
    "Integer": ("Integer y", "y := if p then 1 else 0;", "f({u})"),
    "compared": ("Integer y", "y := if p then 7 else 3;", "(if f({u}) > 5 then 1 else 0)"),
    "equal": ("Integer y", "y := if p then 7 else 3;", "(if f({u}) == 7 then 1 else 0)"),
    "negated": ("Boolean y", "y := not p;", "(if not f({u}) then 1 else 0)"),
    "enumeration": ("E y", "y := if p then E.inside else E.outside;", "(if f({u}) == E.inside then 1 else 0)"),
}
ARGUMENTS = {"time": "time", "state": "s", "variable": "v"}


def model(seed, body, output, argument):
    chance = random.Random(seed)
    begin, width = round(chance.uniform(0.1, 0.9), 6), 10.0**-chance.randint(2, 5)
    declared, assigned, used = OUTPUTS[output]
    return f"""model Pulse
  type E = enumeration(outside, inside);
  function inside input Real u, a, b; output Boolean p; algorithm p := u > a and u < b; end inside;
  function f input Real u; output {declared}; protected Boolean p; Integer n; algorithm
    {BODIES[body].format(a=begin, b=begin + width)}
    {assigned}
  end f;
  Real s(start = 0, fixed = true), v = 3*s - 2*time, x(start = 0, fixed = true), w(start = 0, fixed = true);
equation
  der(s) = 1;
  der(x) = {1/width}*{used.format(u=ARGUMENTS[argument])};
  der(w) = 1 + noEvent({used.format(u=ARGUMENTS[argument])});
end Pulse;
"""


class DiscreteFunctions(unittest.TestCase):
    def test_pulses(self):
        members = [(b, o, a) for b in BODIES for o in OUTPUTS for a in ARGUMENTS]
        for seed in seeds(2*len(members), len(members)):
            member = members[seed % len(members)]
            text = model(seed, *member)
            for solver in by_turns(["erk", "radau", "bdf"], seed):
                run = simulate(text, solver=solver, stop_time=1)
                with self.subTest(seed=seed, member=member, solver=solver):
                    self.assertEqual(run.status, 0, run.words + text)
                    self.assertAlmostEqual(run.end("x"), 1, delta=1e-5, msg=text)

    def test_steps_of_loops(self):
        """A loop that depends on data stays a call, and its value is watched: a count of edges passed, and whether the value is
        beyond some of them."""
        for seed in seeds(300, 12):
            chance = random.Random(seed)
            edges = sorted(round(chance.uniform(0.05, 0.95), 6) for _ in range(chance.randint(1, 6)))
            beyond = chance.randint(1, len(edges))
            argument = ARGUMENTS[chance.choice(list(ARGUMENTS))]
            text = f"""model Steps
  function count input Real u; output Integer n; protected Real a[:] = {{{", ".join(map(str, edges))}}}; algorithm
    n := 0;
    while n < {len(edges)} and u > a[min(n + 1, {len(edges)})] loop n := n + 1; end while;
  end count;
  function passed input Real u; output Boolean p; algorithm p := count(u) >= {beyond}; end passed;
  Real s(start = 0, fixed = true), v = 3*s - 2*time, x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(s) = 1;
  der(x) = count({argument});
  der(y) = if passed({argument}) then 1 else 0;
end Steps;
"""
            for solver in by_turns(["erk", "radau", "bdf"], seed):
                run = simulate(text, solver=solver, stop_time=1)
                with self.subTest(seed=seed, solver=solver):
                    self.assertEqual(run.status, 0, run.words + text)
                    self.assertAlmostEqual(run.end("x"), sum(1 - edge for edge in edges), delta=1e-7, msg=text)
                    self.assertAlmostEqual(run.end("y"), 1 - edges[beyond - 1], delta=1e-7, msg=text)

    def test_bisections(self):
        """A search by bisection compares many differences that jump, but its value does not jump: it causes no events, even next to a jump that does."""
        for seed in seeds(60, 3):
            chance = random.Random(seed)
            limit, power = round(chance.uniform(0.2, 0.9), 6), chance.randint(1, 3)
            text = f"""model Root
  function root input Real s; output Real y; protected Real a = 0; Real b = 1; Real m; algorithm
    for i in 1:{chance.randint(36, 50)} loop m := (a + b)/2; if m^{power + 1} > s then b := m; else a := m; end if; end for;
    y := (a + b)/2;
  end root;
  Real x(start = 0, fixed = true), y, w;
equation
  y = root(time^{power});
  w = noEvent(if time^2 <= {limit} then y else -1);
  der(x) = w;
end Root;
"""
            run = simulate(text, solver=by_turns(["erk", "radau", "bdf"], seed)[0], stop_time=1)
            edge, rate = limit**0.5, power/(power + 1) + 1
            self.assertEqual(run.status, 0, run.words + text)
            self.assertAlmostEqual(run.end("x"), edge**rate/rate - (1 - edge), delta=1e-4, msg=text)
            self.assertLess(run.report["steps"], 300, text)


if __name__ == "__main__":
    unittest.main()
