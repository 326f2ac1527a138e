"""Circuits that are regular although their conductances and capacitances are small compared with other terms of the equations.

Gates of transistors without capacitances, on conductances of 1e-12: if all transistors are off, the condition number is large, and the output switches within one unit of round-off of the
time. A charge on a small capacitance that an equation gives. And
stars of conductances that differ by many powers of ten, each a block of linear equations."""
import math
import random
import unittest

from runs import simulate

GATE = """model Gate
  parameter Real R = 0, C = 0, g = {g!r}, k = {k!r}, T = {T!r};
  Real supply, gate, out, drain, ip, id, ir, ic;
equation
  supply = if time < T then 5*time/T else 5;
  gate = if time < 2*T then 0 elseif time < 3*T then 5*(time - 2*T)/T elseif time < 4*T then 5*(4*T - time)/T else 0;
  id = if noEvent(gate <= 0) then 0 elseif noEvent(drain >= gate) then k/2*gate^2 else k*(gate*drain - drain^2/2);
  ip = if noEvent(supply - gate <= 0) then 0 elseif noEvent(drain <= gate) then k/2*(supply - gate)^2
    else k*((supply - gate)*(supply - drain) - (supply - drain)^2/2);
  R*ir = out - drain;
  ic = C*(der(gate) - der(drain));
  ir = id - ip + g*drain - g*(supply - drain) - ic;
  ir = 0;
end Gate;
"""

CAPACITANCE = """model Charge
  parameter Real size = {size!r}, rate = {rate!r};
  Real v(start = {start!r}, fixed = true), c, i;
equation
  c = size*exp(v);
  i = c*der(v);
  i = rate*size*exp(v)*(1 - v);
end Charge;
"""


def current(k, gate, drain):
    """The current of a transistor whose threshold is 0."""
    if gate <= 0:
        return 0.0
    return k/2*gate**2 if drain >= gate else k*(gate*drain - drain**2/2)


def output(k, g, supply, gate):
    """The output at which the currents of both transistors and of both conductances cancel: they grow with the output."""
    low, high = 0.0, supply
    for _ in range(200):
        middle = (low + high)/2
        balance = current(k, gate, middle) + g*middle - current(k, supply - gate, supply - middle) - g*(supply - middle)
        low, high = (middle, high) if balance < 0 else (low, middle)
    return (low + high)/2


def star(conductances, by_resistance):
    """Arms from a node to known potentials."""
    laws = ["{1!r}*q[{0}] = T - sin({0}*time)".format(k, 1/g) if by_resistance else "q[{0}] = {1!r}*(T - sin({0}*time))".format(k, g)
            for k, g in enumerate(conductances, 1)]
    return f"model Star\n  Real T, q[{len(laws)}];\nequation\n  sum(q) = 0;\n  " + ";\n  ".join(laws) + ";\nend Star;\n"


class SmallConductances(unittest.TestCase):
    def test_stars(self):
        rng = random.Random(3)
        for arms in (2, 3, 4, 5, 7, 8, 12):
            for by_resistance in (False, True):
                conductances = [10**rng.uniform(-12, 12) for _ in range(arms)]
                with self.subTest(conductances=conductances, by_resistance=by_resistance):
                    run = simulate(star(conductances, by_resistance), stop_time=1, intervals=5)
                    self.assertEqual(run.status, 0, run.words)
                    for row, time in enumerate(run.columns["time"]):
                        node = sum(g*math.sin(k*time) for k, g in enumerate(conductances, 1))/sum(conductances)
                        self.assertLess(abs(run.columns["T"][row] - node), 1e-13)
                        flows = [g*(node - math.sin(k*time)) for k, g in enumerate(conductances, 1)]
                        lost = max(map(abs, flows)) if by_resistance or arms > 7 else 0  # small flows lose digits
                        for k, (g, flow) in enumerate(zip(conductances, flows), 1):
                            self.assertLessEqual(abs(run.columns[f"q[{k}]"][row] - flow), 1e-13*(g + lost))

    def test_gates(self):
        rng = random.Random(1)
        for T in (1e-12, 1e-9, 1.0):
            for solver in ("auto", "erk"):
                g, k = 10**rng.uniform(-13, -11), 10**rng.uniform(-5.5, -4)
                with self.subTest(T=T, g=g, k=k, solver=solver):
                    run = simulate(GATE.format(g=g, k=k, T=T), solver=solver, stop_time=5*T, intervals=50)
                    self.assertEqual(run.status, 0, run.words)
                    for time, supply, gate, out in zip(*(run.columns[name] for name in ("time", "supply", "gate", "out"))):
                        if abs(gate - supply/2) > 1e-3 and min(gate, abs(supply - gate)) > 1e-3:
                            self.assertLess(abs(out - output(k, g, supply, gate)), 1e-4, time)

    def test_capacitances(self):
        rng = random.Random(2)
        for size in (1e-9, 1e-14, 1e-25, 1e-60):
            start, rate = rng.uniform(-2, 3), rng.uniform(0.5, 2)
            with self.subTest(size=size):
                run = simulate(CAPACITANCE.format(size=size, start=start, rate=rate), stop_time=2)
                self.assertEqual(run.status, 0, run.words)
                self.assertLess(abs(run.end("v") - 1 - (start - 1)*math.exp(-2*rate)), 1e-4)


if __name__ == "__main__":
    unittest.main()
