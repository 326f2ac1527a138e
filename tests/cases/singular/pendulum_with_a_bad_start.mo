// The equations are singular at the guess; the run starts from another guess.
// run: analyze
// expect: report.singular_blocks[0].verdict = "here"
// expect: "x^2 + y^2 = 1" in report.singular_blocks[0].equations.text
// run: simulate
// expect: exit 0
model P
  Real x(start = 0), y(start = 0), u(start = 0), v(start = 0), F;
equation
  der(x) = u;
  der(y) = v;
  der(u) = F*x;
  der(v) = F*y - 9.81;
  x^2 + y^2 = 1;
end P;
