// run: simulate --stop-time 1 --intervals 1 --tolerance 1e-9
// expect: x = exp(3) within 1e-6
model Choice
  parameter Boolean b(fixed=false);
  parameter Integer n(fixed=false);
  parameter Real r(fixed=false);
  Real x(start=1, fixed=true);
equation
  der(x) = if b then n*x else -x;
initial algorithm
  b := false;
  r := 2;
  n := 1;
  if r > 1 then
    b := true;
    n := 3;
  end if;
end Choice;
