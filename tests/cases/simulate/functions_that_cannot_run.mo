// A function that cannot be run is refused by name, because no value can replace it.
// run: simulate
// change: y = f(x); -> y = f(x); | b = f(x) > 0; y = 1; public Boolean b; | when time > 0.5 then z = f(time); end when; y = 1; public discrete Real z; | when f(x) > 2 then z = 1; end when; y = 1; public discrete Real z; | assert(f(x) > 2, "no"); y = 1;
// expect: exit 3
// expect: report.status = "input"
// expect: says `f` cannot be run
model M
  function f
    input Real x;
    output Real y;
    external "C";
  end f;
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -x;
  y = f(x);
end M;
