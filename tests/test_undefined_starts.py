"""Initial values if equations are undefined at the start values, or if modes are wrong until other equations are solved."""
import unittest

from runs import simulate


def chain(stages, has_events):
    """Stages with two solutions each. A parameter selects the one nearer to a guess; with the other one, the next stage has no solution. Start values do not reveal the values of the
    parameters: each follows from the stages before it."""
    near, far = ("abs(%sa[i]*sqrt(max(1e-12, 1 - u[i]^2)) - guess)" % sign for sign in ("", "-"))
    condition = f"{near} < {far}" if has_events else f"noEvent({near} < {far})"
    return f"""model Chain
  parameter Integer n = {stages};
  parameter Real guess = -0.8;
  parameter Boolean positive[n](each fixed = false);
  Real a[n], d[n](each start = 1), k[n], r[n], s[n], v[n], u[n];
initial equation
  for i in 1:n loop positive[i] = if {condition} then true else false; end for;
equation
  for i in 1:n loop
    a[i] = -cos(time);
    d[i] = 1 - u[i]^2;
    k[i] = if noEvent(d[i] > 1e-12) then d[i] else 1e-12;
    r[i] = sqrt(k[i]);
    s[i] = sqrt(r[i] - 0.1);
    v[i] = (s[i]^2 + 0.1)*(if positive[i] then a[i] else -a[i]);
  end for;
  u[1] = 0.6;
  for i in 2:n loop u[i] = v[i - 1] + 0.5; end for;
end Chain;
"""


def tubes(size, start):
    """A coil on an iron core with an air gap and a leakage. Permeances are far from 1, have no start value, and reluctances divide
    by them; the flux begins at the edge of a power's domain. The sizes of the magnetic quantities do not change the current."""
    return f"""model Tubes
  parameter Real A = 1e-4, l = 0.05, gap = 1e-3, N = 200/{size!r}, R = 5, Bm = 0.6, leak = 5e7/{size!r};
  constant Real mu0 = 1.2566e-6*{size!r};
  Real Phi[3]{start}, B[3], BN[3], mu[3], G[3], Rm[3], V[3], Vair, i, psi(start = 0, fixed = true);
equation
  for k in 1:3 loop
    B[k] = Phi[k]/A;
    BN[k] = abs(B[k]/Bm)/{size!r};
    mu[k] = 1 + 2000*(1 + BN[k])/(1 + BN[k] + BN[k]^7.5);
    G[k] = mu0*mu[k]*A/l;
    Rm[k] = 1/G[k];
    V[k] = Phi[k]*Rm[k];
  end for;
  Phi[1] = Phi[2];
  Phi[1] + Phi[3] = psi/N;
  Vair = Phi[1]*gap/(mu0*A);
  V[1] + V[2] + Vair = N*i*{size!r};
  V[3] + leak*Phi[3] = N*i*{size!r};
  der(psi) = 10 - R*i;
  annotation(experiment(StopTime = 0.05, Tolerance = 1e-8));
end Tubes;
"""


class Starts(unittest.TestCase):
    def test_chains(self):
        for stages in (2, 3, 6):
            for has_events in (False, True):
                with self.subTest(stages=stages, has_events=has_events):
                    run = simulate(chain(stages, has_events), stop_time=0.1)
                    self.assertEqual(run.status, 0, run.words)
                    wanted = 0.6
                    for k in range(1, stages + 1):
                        self.assertAlmostEqual(run.columns[f"v[{k}]"][0], -(1 - wanted**2)**0.5, delta=1e-9)
                        wanted = 0.5 - (1 - wanted**2)**0.5

    def test_tubes(self):
        ends = []
        for start in ("", "(each start = 0)"):
            for size in (1, 1e-4, 1e4):
                with self.subTest(start=start, size=size):
                    run = simulate(tubes(size, start))
                    self.assertEqual(run.status, 0, run.words)
                    ends.append(run.end("i"))
                    self.assertAlmostEqual(run.end("i"), ends[0], delta=1e-4)


if __name__ == "__main__":
    unittest.main()
