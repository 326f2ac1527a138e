// run: check --model P.M
// expect: exit 4
// expect: says nothing is connected to the input sum.u2: connect it, or give it a value
package P
  connector In = input Real;
  connector Out = output Real;
  block Sum
    In u1, u2;
    Out y = u1 - u2;
  end Sum;
  model M
    Sum sum(u1 = 1);
    Sum other;
    Real x(start = 0, fixed = true);
  equation
    der(x) = sum.y;
    connect(sum.y, other.u1);
    other.u2 = 2*x;
  end M;
end P;
