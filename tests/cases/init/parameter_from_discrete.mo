// An initial equation of a discrete variable that a when sets at the start determines the parameter on its other side. It must not be mistaken for an equation that sets the variable before
// the start.
// run: simulate
// change: y = q -> y = q | q = y | y - q = 0 | 2*q = 2*y
// expect: z = 4 within 1e-9 everywhere
// expect: w = 5 within 1e-9 at 0
// So does one of a variable with a fixed start value.
// run: simulate
// change: initial() -> sample(0.5, 0.5)
// change: y(start = 0 -> y(start = 3
// change: y = q -> y = q | pre(y) = q
// expect: z = 6 within 1e-9 everywhere
// expect: y = 3 within 1e-9 at 0
model ParameterFromDiscrete
  Real y(start = 0, fixed = true), w, z = 2*q;
  parameter Real q(fixed = false, start = 7), p = 5;
equation
  when initial() then
    y = 2;
  end when;
  when sample(0.1, 0.1) then
    w = time;
  end when;
initial equation
  y = q;
  w = p;
end ParameterFromDiscrete;
