// Array arguments of an external function must be variables, and its result cannot be an array.
// run: check --strict
// expect: exit 3
// expect: says an argument of an external function that is an array must be a variable
// run: check
// change: h({1.0, x}) -> h(x)
// expect: exit 3
// expect: says an external function cannot return an array: it is an argument
model ExternalArrays
  function f
    input Real x;
    output Real y;
  external "C" y = h({1.0, x});
  end f;
  function g
    input Real x;
    output Real y[2];
  external "C" y = k(x);
  end g;
  Real u = f(time);
  Real v[2] = g(time);
end ExternalArrays;
