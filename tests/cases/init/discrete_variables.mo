// init shows the values with which discrete variables begin.
// run: init
// expect: [n, twice, high, low, held] = [4, 8, 1, 1, 6]
model Start
  parameter Integer first = 4;
  Integer n(start = first, fixed = true), twice;
  Boolean high, low(start = true, fixed = true);
  discrete Real held;
  Real x(start = 2, fixed = true);
initial equation
  held = 3*x;
equation
  der(x) = -x;
  twice = 2*n;
  high = x > 1;
  when x < 1 then
    n = pre(n) + 1;
    held = x;
    low = not pre(low);
  end when;
end Start;
