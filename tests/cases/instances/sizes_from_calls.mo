// A field with open size, in a record that is not a parameter, gets its size from the function that gives the record.
// run: simulate --model SizesFromCalls.Fields
// expect: a.c[3] + b.c[3] + c.c[3] = 9 within 1e-12 everywhere
// expect: y = 27*time within 1e-12 everywhere
package SizesFromCalls
  record R
    Real c[:];
  end R;

  function modified
    input Integer n;
    output R r(c = zeros(n));
  algorithm
    r.c := fill(3.0, n);
  end modified;

  function redeclared
    input Integer n;
    output R r(redeclare Real c[n]);
  algorithm
    r.c := fill(3.0, n);
  end redeclared;

  function constructed
    input Integer n;
    output R r;
  algorithm
    r := R(fill(3.0, n));
  end constructed;

  model Fields
    R a = modified(3), b = redeclared(3), c = constructed(3);
    Real y = (sum(a.c) + sum(b.c) + sum(c.c))*time;
  end Fields;
end SizesFromCalls;
