"""Automata whose events are known exactly: states that rise and fall at whole rates, Boolean equations of relations and pre(), whens that set rates or move a state.

Rational arithmetic follows each from event to event, and dual numbers give the derivatives with respect to starts, thresholds, rates and places. Some automata begin at a threshold:
there a relation has its literal value, and a relation that becomes true right after is an event right after. For derivatives there are two equal automata, so that all events come in pairs.

Wide runs: see runs.py."""
import random
import unittest
from fractions import Fraction

import test_derivatives
from runs import Tally, seeds, simulate, solver_names

SOLVERS, STOP = solver_names(), 2


class Degenerate(Exception):
    """The result is not determined: several conditions change at one time, or one changes back and forth at its edge."""


class Dual:
    """A number and its derivatives by name."""

    def __init__(self, value, by=None):
        self.value, self.by = Fraction(value), by or {}

    def combine(self, other, mine, others, value):
        return Dual(value, {name: mine * self.by.get(name, 0) + others * other.by.get(name, 0) for name in {*self.by, *other.by}})

    def __add__(self, other):
        return self.combine(other, 1, 1, self.value + other.value)

    def __sub__(self, other):
        return self.combine(other, 1, -1, self.value - other.value)

    def __mul__(self, other):
        return self.combine(other, other.value, self.value, self.value * other.value)

    def __truediv__(self, other):
        return self.combine(other, 1 / other.value, -self.value / other.value**2, self.value / other.value)


def near(rng, unit):
    """A number that is unlikely to be a sum or a multiple of other numbers from this function."""
    return Fraction(float(Fraction(rng.randrange(-15, 16), 10) + Fraction(rng.randrange(1, 90), unit)))


class Automaton:
    def __init__(self, seed, at_edge):
        rng = self.rng = random.Random(seed)
        n, self.booleans = rng.randrange(1, 4), rng.randrange(1, 5)
        self.relations = [(rng.randrange(n), near(rng, 991), rng.choice([">", "<", ">=", "<="])) for _ in range(rng.randrange(1, 5))]
        self.starts = [near(rng, 997) for _ in range(n)]
        if at_edge:
            self.starts = [next((c for j, c, _ in self.relations if j == i), x) for i, x in enumerate(self.starts)]
        self.rates = [rng.choice([-3, -2, -1, 1, 2, 3]) for _ in range(n)]
        self.speeds = [Fraction(rng.choice([32, 64, 96]) + i, 64) for i in range(n)]
        self.logic = [self.draw_logic(k, 0) for k in range(self.booleans)]
        self.whens = [(i, [(self.draw_condition(), rng.choice([("set", rng.choice([-2, 1, 3])), ("turn", i), ("take", rng.randrange(n)), ("add", i)])) for _ in range(rng.randrange(1, 4))])
                      for i in range(n) if rng.random() < 0.8]
        self.resets = [(self.draw_condition(), rng.randrange(n), near(rng, 983))] if rng.random() < 0.5 else []

    def draw_condition(self):
        return self.rng.randrange(self.booleans), self.rng.random() < 0.3  # which, negated

    def draw_logic(self, earlier, depth):
        kind = self.rng.choice(["relation"] * 3 + (["earlier"] if earlier else []) + ["pre", "not", "and", "or"]) if depth < 3 else "relation"
        if kind in ("not", "and", "or"):
            return kind, *(self.draw_logic(earlier, depth + 1) for _ in range(1 if kind == "not" else 2))
        return kind, self.rng.randrange({"relation": len(self.relations), "earlier": earlier, "pre": self.booleans}[kind])

    # ---- the text ----

    def text_of(self, e):
        kind, first, *rest = e
        if kind == "relation":
            j, _, operation = self.relations[first]
            return f"x[{j + 1}] {operation} c{first}"
        if kind in ("earlier", "pre"):
            return f"b[{first + 1}]" if kind == "earlier" else f"pre(b[{first + 1}])"
        return f"not ({self.text_of(first)})" if kind == "not" else f"({self.text_of(first)}) {kind} ({self.text_of(rest[0])})"

    def condition_text(self, condition):
        return f"{'not ' if condition[1] else ''}b[{condition[0] + 1}]"

    def values(self):
        """Of parameters."""
        return {**{f"s{i}": x for i, x in enumerate(self.starts)}, **{f"a{i}": x for i, x in enumerate(self.speeds)},
                **{f"c{q}": c for q, (_, c, _) in enumerate(self.relations)}, **{f"r{q}": x for q, (_, _, x) in enumerate(self.resets)}}

    def text(self):
        n = len(self.starts)
        actions = {"set": "{}", "turn": "-pre(k[{}])", "take": "pre(k[{}])", "add": "pre(k[{}]) + 1"}
        lines = [f"parameter Real {name} = {float(value)!r};" for name, value in self.values().items()]
        lines += [f"Real x[{n}](start = {{{', '.join(f's{i}' for i in range(n))}}}, each fixed = true);", f"Integer k[{n}](start = {{{', '.join(map(str, self.rates))}}}, each fixed = true);",
                  f"Boolean b[{self.booleans}](each start = false, each fixed = true);", f"Integer n[{self.booleans}](each start = 0, each fixed = true);", "equation"]
        lines += [f"der(x[{i + 1}]) = a{i}*k[{i + 1}];" for i in range(n)]
        for p, e in enumerate(self.logic):
            lines += [f"b[{p + 1}] = {self.text_of(e)};", f"when b[{p + 1}] then n[{p + 1}] = pre(n[{p + 1}]) + 1; end when;"]
        for i, branches in self.whens:
            texts = [f"when {self.condition_text(condition)} then k[{i + 1}] = {actions[kind].format(of if kind == 'set' else of + 1)};" for condition, (kind, of) in branches]
            lines.append(" else".join(texts) + " end when;")
        lines += [f"when time > 1e6 then k[{i + 1}] = 0; end when;" for i in range(n) if i not in dict(self.whens)]
        lines += [f"when {self.condition_text(condition)} then reinit(x[{i + 1}], r{q}); end when;" for q, (condition, i, _) in enumerate(self.resets)]
        return "model A\n  " + "\n  ".join(lines) + "\nend A;\n"

    # ---- what it does ----

    def is_true(self, e, now, pre):
        kind, first, *rest = e
        if kind in ("relation", "earlier", "pre"):
            return {"relation": self.holds, "earlier": now, "pre": pre}[kind][first]
        sides = [self.is_true(side, now, pre) for side in (first, *rest)]
        return not sides[0] if kind == "not" else all(sides) if kind == "and" else any(sides)

    def decide(self, pre):
        now = []
        for e in self.logic:
            now.append(self.is_true(e, now, pre))
        return now

    def relate(self, q):
        j, _, operation = self.relations[q]
        difference = self.x[j].value - self.edges[q].value
        return operation[1:] == "=" if difference == 0 else (difference > 0) == (operation[0] == ">")

    def next_crossing(self):
        """The time until the next crossing, and its relation; None if there is no crossing. At a place where a state rests, nothing is determined."""
        found = []
        for q, (j, _, operation) in enumerate(self.relations):
            above, rate = self.holds[q] == (operation[0] == ">"), self.k[j]
            if rate == 0 and self.x[j].value == self.edges[q].value:
                raise Degenerate
            if rate and above == (rate < 0):
                found.append(((self.edges[q] - self.x[j]) / (self.a[j] * Dual(rate)), q))
        found.sort(key=lambda item: item[0].value)
        if len(found) > 1 and found[0][0].value == found[1][0].value:
            raise Degenerate
        return found[0] if found else None

    def settle(self):
        """The rounds of an event; pre() is kept in self.b and self.k."""
        for _ in range(30):
            now, rates, places = self.decide(self.b), list(self.k), []
            fires = lambda condition: now[condition[0]] != condition[1] and self.b[condition[0]] == condition[1]
            self.n = [count + (b and not before) for count, b, before in zip(self.n, now, self.b)]
            for i, branches in self.whens:
                kind, of = next((action for condition, action in branches if fires(condition)), (None, None))
                if kind:
                    rates[i] = of if kind == "set" else {"turn": -1, "take": 1, "add": 1}[kind] * self.k[of] + (kind == "add")
            for q, (condition, i, place) in enumerate(self.resets):
                if fires(condition):
                    places.append(i)
                    self.x[i] = Dual(place, {f"r{q}": Fraction(1)})
            if not places and now == self.b and rates == self.k:
                return
            self.b, self.k = now, rates
            self.holds = [self.relate(q) if self.relations[q][0] in places else held for q, held in enumerate(self.holds)]
        raise Degenerate

    def follow(self):
        """Runs to the end, and returns states, rates, Booleans and how often each became true. Returns how many events there were."""
        self.x = [Dual(x, {f"s{i}": Fraction(1)}) for i, x in enumerate(self.starts)]
        self.a = [Dual(a, {f"a{i}": Fraction(1)}) for i, a in enumerate(self.speeds)]
        self.edges = [Dual(c, {f"c{q}": Fraction(1)}) for q, (_, c, _) in enumerate(self.relations)]
        self.k, self.n, t, events = list(self.rates), [0] * self.booleans, Dual(0), 0
        self.holds = [self.relate(q) for q in range(len(self.relations))]
        self.b = self.decide([False] * self.booleans)
        if self.decide(self.b) != self.b:
            raise Degenerate
        while (crossing := self.next_crossing()) and t.value + crossing[0].value < STOP:
            wait, q = crossing
            if events and wait.value < Fraction(1, 1000) or events > 20 or max(map(abs, self.k)) > 20:
                raise Degenerate
            t, events = t + wait, events + 1
            self.x = [x + wait * a * Dual(k) for x, a, k in zip(self.x, self.a, self.k)]
            self.holds[q] = not self.holds[q]
            self.settle()
        self.x = [x + (Dual(STOP) - t) * a * Dual(k) for x, a, k in zip(self.x, self.a, self.k)]
        return events


def members(count, quick, at_edge=False):
    """Automata that have events, each with its number."""
    for seed in seeds(count, quick=quick):
        for attempt in range(100):
            automaton = Automaton(1000 * seed + attempt, at_edge)
            try:
                if automaton.follow():
                    yield seed, automaton
                    break
            except Degenerate:
                pass


class Automata(unittest.TestCase):
    def judge(self, kind, at_edge):
        tally = Tally(kind)
        for seed, automaton in members(400, 40, at_edge):
            run = simulate(automaton.text(), intervals=3, stop_time=float(STOP), solver=SOLVERS[seed % len(SOLVERS)], tolerance=1e-8)

            def is_right(run=run, automaton=automaton):
                discrete = (("k", automaton.k), ("b", automaton.b), ("n", automaton.n))
                return all(abs(run.end(f"x[{i + 1}]") - x.value) < 1e-5 * (1 + abs(x.value)) for i, x in enumerate(automaton.x)) and \
                    all(run.end(f"{name}[{i + 1}]") == value for name, values in discrete for i, value in enumerate(values))

            tally.add(run, is_right, seed, run.words, automaton.text())
        tally.check(self)

    def test_values(self):
        self.judge("automata", False)

    def test_begin_at_thresholds(self):
        self.judge("automata that begin at thresholds", True)

    def test_turns_back_where_it_begins(self):
        """A state turns back at the threshold where it begins: the condition was true, and becomes false."""
        for solver in SOLVERS:
            run = simulate("model A Real x(start = 1, fixed = true); Integer k(start = 2, fixed = true); Boolean b = x > 1; equation der(x) = k; when b then k = -pre(k); "
                           "elsewhen not b then k = -pre(k); end when; when b then reinit(x, -5); end when; end A;", stop_time=float(STOP), solver=solver)
            self.assertEqual((run.status, run.end("k"), round(run.end("x"), 6)), (0, 2, -1), solver)

    def test_derivatives(self):
        for seed, automaton in members(200, 6):
            text = "model M\n" + automaton.text() + "  A u, w;\nend M;\n"
            names = [f"{part}.{name}" for part in "uw" for name in automaton.values()]
            options = ("--stop-time", str(STOP), "--solver", test_derivatives.SOLVERS[seed % len(test_derivatives.SOLVERS)])
            final = test_derivatives.run(text, *options, "--sensitivity", ",".join(names))["final"]
            i = seed % len(automaton.x)
            gradient = test_derivatives.run(text, *options, "--gradient", f"u.x[{i + 1}]", "--gradient-by", ",".join(names))["gradient"]["derivatives"]
            for name in names:
                for k, x in enumerate(automaton.x):
                    value = float(x.by.get(name[2:], 0))
                    for part in "uw":
                        self.assertAlmostEqual(final[f"der({part}.x[{k + 1}], {name})"], value if name[0] == part else 0, delta=1e-6 * (1 + abs(value)), msg=text)
                    if k == i:
                        self.assertAlmostEqual(gradient[name], value if name[0] == "u" else 0, delta=1e-6 * (1 + abs(value)), msg=text)


if __name__ == "__main__":
    unittest.main()
