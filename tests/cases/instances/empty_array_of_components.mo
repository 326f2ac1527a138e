// Conditions, sizes, connections and values inside of an array without elements need not be known.
// expect: y = exp(-1) within 1e-5
// run: simulate
// change: n = 0 -> n = 2
// expect: y = exp(-1) + 3 within 1e-5
connector In = input Real;
connector Out = output Real;

block Stage
  parameter Integer order = 1;
  parameter Real k[max(0, order - 1)] = fill(2.0, order - 1);
  In u;
  Out y;
  Out extra if order > 1;
  Out more;
equation
  if order > 1 then
    connect(u, extra);
  end if;
  connect(u, more);
  y = u + order + sum(k);
end Stage;

model Cascade
  parameter Integer n = 0;
  parameter Integer orders[n] = fill(1, n);
  parameter Boolean has_stage = n > 0;
  Stage stage[n](order = orders);
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -x;
  for i in 1:n loop
    stage[i].u = x + 1 - x;
  end for;
  y = x + sum(stage.y) - (if n > 0 then 1 else 0);
end Cascade;
