// The equation with homotopy() gives its unknown explicitly; it must be solved only because of the initial equation. The intended solution is the one to which homotopy() leads.
// run: simulate
// expect: z = 100 within 1e-6
// expect: report.initial.rung = "homotopy(actual, simplified)"
model HomotopySteady
  Real z(start = 0);
  Real q;
initial equation
  der(z) = 0;
equation
  q = homotopy(sin(z)*(z - 100), z - 100);
  der(z) = -q;
end HomotopySteady;
