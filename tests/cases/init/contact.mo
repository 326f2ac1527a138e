model Contact "a disc on a parabola: the structure of section 6, the contact point as coordinate"
  // g_con and g_npe with d g_con / d s = 0 where g_npe = 0, as in (23). Checked against numbers in tests/test_init.py.
  // run: init
  // expect: exit 0
  // expect: [[part.index] + part.highest_index for part in report.parts] = [[3, "lambda"]]
  // expect: report.residual < 1e-12
  parameter Real m = 2;
  parameter Real r = 0.5;
  parameter Real g = 9.81;
  Real x(start = 0.3, fixed = true);
  Real y(start = 0.7);
  Real vx(start = 0.8, fixed = true);
  Real vy;
  Real s(start = 0.4) "contact point (s, s^2/2)";
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -2*(x - s)*lambda;
  m*der(vy) = -m*g - 2*(y - s^2/2)*lambda;
  (x - s)^2 + (y - s^2/2)^2 = r^2;
  (x - s) + s*(y - s^2/2) = 0;
end Contact;
