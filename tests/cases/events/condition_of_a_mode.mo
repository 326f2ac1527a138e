// The condition pre(neg) selects p or m on one side of an equation, and only numbers on the other. It must have the same value on both sides in the mode after the initial event. An example
// is the port of a tank above its level, after a closed valve.
// run: simulate
// change: x(start = 1) -> x(start = 1) | x(start = 3)
// expect: p = 101325 within 1e-6 at start
// expect: neg = 0 at start
// expect: w1 = w2 within 1e-9 at 0.4
// expect: p = 101325 within 1e-6 at 1
model ConditionOfAMode
  parameter Real k = 0 "a closed valve";
  Real p(start = 5e6, min = 600), x(start = 1), m, r;
  Real w1(start = 1), w2(start = 1), i;
  Boolean s = time < 0.5 "changes the index";
  Boolean neg(start = true, fixed = true);
initial equation
  x = 1;
equation
  der(x) = m;
  neg = (pre(neg) and not p > 1e5) or m < -1e-6;
  if noEvent(x > 2) then
    p = x + 101325;
  else
    if pre(neg) then
      m = 0;
    else
      p = 101325;
    end if;
  end if;
  m = k*(p - 101326);
  r = log(p);
  der(w1) = -i - w1;
  der(w2) = i;
  if s then
    w1 = w2;
  else
    i = 0;
  end if;
end ConditionOfAMode;
