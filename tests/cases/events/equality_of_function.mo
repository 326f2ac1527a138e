// Equalities of the results of functions cause events in equations of Reals, too, so that pulses narrower than a step are not missed.
// run: simulate --solver {auto,radau,bdf}
// expect: x = 1 within 1e-6
// expect: w = 1 within 1e-6
model EqualityOfFunction
  function f
    input Real u;
    output Integer k;
  algorithm
    k := if u > 0.5 and u < 0.5001 then 1 else 2;
  end f;
  function g
    input Real u;
    output Integer k;
  algorithm
    k := 0;
    while k < u loop
      k := k + 1;
    end while;
  end g;
  Real x(start = 0, fixed = true), w(start = 0, fixed = true);
equation
  der(x) = if f(time) == 1 then 1e4 else 0;
  der(w) = if g(1000*time) == 501 then 1e3 else 0;
end EqualityOfFunction;
