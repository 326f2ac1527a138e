// A vessel full of liquid. Pressure and temperature should be states, although the equations differentiate only mass and energy. The reason is that an error of the mass within the tolerance
// is an error of the pressure of 200 Pa or more.
// run: simulate --solver {auto,radau,ida,bdf}
// reference: simulate --tolerance 1e-12
// expect: p = reference.p within 10 everywhere
// expect: T = reference.T within 0.001 everywhere
// expect: m = first(m) + inflow within 1e-5 everywhere
// Where an event makes another pressure of the mass, the mass goes on and the pressure jumps.
// run: simulate --solver {auto,radau}
// change: bulk = 2e9 -> bulk = if time < 10 then 2e9 else 1e9
// expect: m = first(m) + inflow within 1e-4 everywhere
// expect: p < 1e5 + 0.6*(before - 1e5) at 10
// An input that is held has no derivative: the mass stays the state.
// run: simulate
// change: Real bulk; -> input Real bulk(start = 2e9); Real other;
// change: bulk = 2e9; -> other = 0;
// expect: m = first(m) + inflow within 1e-4 everywhere
model Vessel
  parameter Real V = 0.1, rho0 = 1000, T0 = 300, p0 = 1e5, cv = 4000, alpha = 2e-4, k = 1e-6;
  Real p(start = p0, fixed = true, stateSelect = StateSelect.prefer, nominal = 1e5);
  Real T(start = T0, fixed = true, stateSelect = StateSelect.prefer, nominal = 300);
  Real m, U, rho, u, w;
  Real bulk;
  Real inflow(start = 0, fixed = true);
  discrete Real before(start = 0, fixed = true);
equation
  der(m) = w;
  der(U) = w*cv*T0 + 1e4*sin(time);
  der(inflow) = w;
  w = k*(1.2e5 + 1e4*sin(time/3) - p);
  m = V*rho;
  U = m*u;
  rho = rho0*(1 + (p - p0)/bulk - alpha*(T - T0));
  u = cv*T;
  bulk = 2e9;
  when time >= 9.9 then
    before = p;
  end when;
  annotation(experiment(StopTime = 20));
end Vessel;
