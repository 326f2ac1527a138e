// The pendulum of order_of_equations.mo with other names and another order.
model M
  Real c;
  Real q(start=0, fixed=true);
  Real b(start=0);
  Real p(start=0);
  Real a(start=1, fixed=true);
equation
  b^2 + a^2 = 1;
  der(p) = -c*b - 1;
  der(b) = p;
  der(q) = -c*a;
  der(a) = q;
end M;
