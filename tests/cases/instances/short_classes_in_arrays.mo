// Values that a short class gives its elements hold for each element of an array of components; so does the start value of a parameter.
// expect: w[2].y = 6
// expect: v[1].y = 6
// expect: c[2].y = 3
// expect: c[1].z = 5
package P
  record R
    parameter Integer n;
    parameter Real a[n];
  end R;
  record R3 = R(final n = 3, a = {1, 2, 3});
  model W
    R3 r;
    Real y = sum(r.a)*time;
  end W;
  model V
    replaceable parameter R r constrainedby R;
    Real y = sum(r.a)*time;
  end V;
  model C
    final parameter Real m(start = 2, fixed = false);
    parameter Real k(start = 5);
    Real y = m*time, z = k*time;
  initial equation
    m = 3;
  end C;
  model M
    W w[2];
    V v[2](redeclare each R3 r);
    C c[2];
  end M;
end P;
