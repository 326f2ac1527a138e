// An event that leaves an equation undefined is an error that names the equation, not one about conditions that change again and again.
// run: simulate --solver {auto,radau,bdf}
// expect: exit 6
// expect: says the equations could not be evaluated after the event
// expect: says division by zero (0) in 1/k: b = 1/k
// expect: never says again and again
// run: simulate
// change: b = 1/k -> b = log(k)
// expect: exit 6
// expect: says logarithm of a number that is not positive (0) in log(k)
// run: simulate
// change: x > 0.5 -> x > 0.5 and time < 0.1
// expect: x = 1 within 1e-6
model UndefinedAfter
  discrete Real k(start = 1, fixed = true);
  Real b, x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    k = pre(k) - 1;
  end when;
  b = 1/k;
end UndefinedAfter;
